/** What a state does with a fact: always remembered, and a move where there is a target. */
export interface Arrow {
  readonly target?: string;
  readonly actions: 'record';
}

/**
 * Writes the arrows of one kind of machine: fact to target, `null` for "remembered, no move". Names of facts are checked by
 * the compiler; targets are checked by the test that walks every state and fact.
 */
export const arrowsOf =
  <Type extends string>() =>
  (arrows: { readonly [Fact in Type]?: string | null }) =>
    Object.fromEntries(
      Object.entries<string | null | undefined>(arrows).map(([type, target]): [string, Arrow] => [
        type,
        { ...(target == null ? {} : { target }), actions: 'record' },
      ]),
    ) as { [Fact in Type]?: { target?: string; actions: 'record' } };
