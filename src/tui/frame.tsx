/** Ink as a function that makes frames: it lays out, and nothing of it ever touches the terminal. */
import { EventEmitter } from 'node:events';
import { render } from 'ink';
import type { Model } from './state.ts';
import { Screen } from './view.tsx';

export interface Frames {
  /** Draws a model; the frame comes to `onFrame`. */
  draw(model: Model): void;
  end(): void;
}

/** What Ink takes for its terminal: as wide as the model says, and every write is a whole frame. */
class Paper extends EventEmitter {
  columns = 80;
  rows = 24;
  readonly writable = true;
  readonly #onFrame: (frame: string) => void;

  constructor(onFrame: (frame: string) => void) {
    super();
    this.#onFrame = onFrame;
  }

  write(frame: string): boolean {
    this.#onFrame(frame);
    return true;
  }
}

/**
 * Calls `onFrame` with one line a row of the screen, colours included, whenever a model was drawn; `onError` when it could
 * not be.
 */
export function openFrames(
  onFrame: (frame: string) => void,
  colored: boolean,
  onError: (error: unknown) => void,
): Frames {
  const paper = new Paper(onFrame);
  const element = (model: Model) => <Screen model={model} colored={colored} />;
  let drawn: ReturnType<typeof render> | null = null;
  return {
    draw(model) {
      paper.columns = model.size.columns;
      paper.rows = model.size.rows;
      if (drawn !== null) {
        drawn.rerender(element(model));
        return;
      }
      // In this mode each frame is written as a whole and at once, without cursor movements between.
      drawn = render(element(model), {
        stdout: paper as unknown as NodeJS.WriteStream,
        stdin: new EventEmitter() as unknown as NodeJS.ReadStream,
        debug: true,
        exitOnCtrlC: false,
        patchConsole: false,
      });
      drawn.waitUntilExit().catch(onError);
    },
    end() {
      drawn?.unmount();
      drawn?.cleanup();
    },
  };
}
