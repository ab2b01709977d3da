/** What can go wrong with a command, and with which exit code it ends. */

export const exitCode = { done: 0, failed: 1, usedWrongly: 2, notReachable: 3, refused: 4 } as const;
export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** Ends a command: what is wrong, and the commands to type next (without `watchkeeper` in front). */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exit: ExitCode;
  readonly next: readonly string[];
  /** What the daemon answered, for `--json`. */
  readonly problem: Readonly<Record<string, unknown>> | undefined;

  constructor(
    message: string,
    options: {
      exit?: ExitCode;
      next?: readonly string[];
      problem?: Readonly<Record<string, unknown>> | undefined;
    } = {},
  ) {
    super(message);
    this.exit = options.exit ?? exitCode.failed;
    this.next = options.next ?? [];
    this.problem = options.problem;
  }
}

/** The command line itself is wrong: exit 2. */
export function usedWrongly(message: string, ...next: string[]): CommandError {
  return new CommandError(message, { exit: exitCode.usedWrongly, next });
}
