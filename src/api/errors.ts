import type { z } from 'zod';
import type { problem } from '../http/contract.ts';

export type ProblemAnswer = z.infer<typeof problem> & { readonly next?: string };

/** The daemon answered that it will not or cannot; the fields are those of the problem it sent. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The last part of the problem's `type`, for example `unknown-server`. */
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  /** What to do, if the daemon said so. */
  readonly next: string | undefined;
  /** Only for problems of a call. */
  readonly call: string | undefined;
  readonly outcome: ProblemAnswer['outcome'];

  constructor(readonly problem: ProblemAnswer) {
    super(problem.detail);
    this.code = problem.code;
    this.status = problem.status;
    this.title = problem.title;
    this.detail = problem.detail;
    this.next = problem.next;
    this.call = problem.call;
    this.outcome = problem.outcome;
  }
}

/** Nobody answers for the data directory, or the connection broke before the answer was complete. */
export class DaemonUnreachable extends Error {
  override readonly name = 'DaemonUnreachable';
}

/** By name: the terminal view is a bundle of its own, in which the same class is another one. */
export const isUnreachable = (error: unknown): error is DaemonUnreachable =>
  error instanceof Error && error.name === 'DaemonUnreachable';

/** By name, for the same reason. */
export const isApiError = (error: unknown): error is ApiError => error instanceof Error && error.name === 'ApiError';
