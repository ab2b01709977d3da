/** A command that is not carried out, and why: an answer, not an exception. */
export interface Refusal {
  /** Kebab-case; the `type` of the problem that HTTP answers with. */
  readonly refused: string;
  /** Names the thing and the next step. */
  readonly detail: string;
}

export const refuse = (refused: string, detail: string): Refusal => ({ refused, detail });

export const isRefusal = (answer: unknown): answer is Refusal =>
  typeof answer === 'object' && answer !== null && 'refused' in answer;
