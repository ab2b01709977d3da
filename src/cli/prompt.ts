/** Asks a person one question. */
import type { Question } from './command.ts';

/** `Run it? [o]nce, this tool [a]lways, [N]o: `, the default in capitals. */
export function questionLine({ text, choices, otherwise }: Question): string {
  const words = choices.map(({ key, label }) => {
    const shown = key === otherwise ? key.toUpperCase() : key;
    return label.includes(key) ? label.replace(key, `[${shown}]`) : `[${shown}] ${label}`;
  });
  return `${text} ${words.join(', ')}: `;
}

/** The key that an answer means: the key itself, or a word that begins with it; null when it is none. */
export function readAnswer(answer: string, { choices, otherwise }: Question): string | null {
  const word = answer.trim().toLowerCase();
  if (word === '') return otherwise;
  return choices.find(({ key }) => word === key || (key.length === 1 && word.startsWith(key)))?.key ?? null;
}

/** Asks until the answer is one of the choices; the default when the input ends. */
export async function askOn(
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
  question: Question,
): Promise<string> {
  const { createInterface } = await import('node:readline');
  // Without raw mode Ctrl-C stays what it is.
  const lines = createInterface({ input, output, terminal: false });
  try {
    output.write(questionLine(question));
    for await (const line of lines) {
      const key = readAnswer(line, question);
      if (key !== null) return key;
      output.write(questionLine(question));
    }
    output.write('\n');
    return question.otherwise;
  } finally {
    lines.close();
  }
}

/** Lines of an input until it ends or the signal does. What is not a terminal and not a pipe (a closed input) has none. */
export async function* linesOf(input: NodeJS.ReadableStream, signal: AbortSignal): AsyncGenerator<string, void> {
  const { createInterface } = await import('node:readline');
  if (signal.aborted) return;
  const lines = createInterface({ input, terminal: false });
  const stop = () => lines.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const line of lines) yield line;
  } catch {
    // An input that cannot be read is one without lines.
  } finally {
    signal.removeEventListener('abort', stop);
    lines.close();
    input.pause();
  }
}
