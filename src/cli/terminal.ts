/** What may be done with the streams of the process: colours, redrawing, asking. Pure. */

type Environment = Readonly<Record<string, string | undefined>>;

export interface Terminal {
  /** Colours on stdout, and on stderr. */
  readonly color: boolean;
  readonly errorColor: boolean;
  /** Columns; undefined when stdout is no terminal, and then nothing is ever cut. */
  readonly width: number | undefined;
  /** The screen may be redrawn. */
  readonly live: boolean;
  /** Somebody can answer a question. */
  readonly asks: boolean;
}

const isSet = (value: string | undefined): boolean => value !== undefined && value !== '';

/** `FORCE_COLOR` beats `NO_COLOR`, which beats what the streams are; CI and `TERM=dumb` count as no terminal. */
export function terminalOf(
  env: Environment,
  streams: {
    readonly stdin: { readonly isTTY?: boolean };
    readonly stdout: { readonly isTTY?: boolean; readonly columns?: number };
    readonly stderr: { readonly isTTY?: boolean };
  },
): Terminal {
  const { stdin, stdout, stderr } = streams;
  const ci = isSet(env.CI) && env.CI !== 'false' && env.CI !== '0';
  const terminal = stdout.isTTY === true;
  const capable = !ci && env.TERM !== 'dumb';
  const colorful = capable && !isSet(env.NO_COLOR);
  const forced = isSet(env.FORCE_COLOR) ? env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false' : undefined;
  return {
    color: forced ?? (colorful && terminal),
    errorColor: forced ?? (colorful && stderr.isTTY === true),
    width: terminal ? stdout.columns || 80 : undefined,
    live: terminal && capable,
    asks: stdin.isTTY === true && stderr.isTTY === true && !ci,
  };
}
