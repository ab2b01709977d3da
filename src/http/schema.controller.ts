/** Shapes are checked by zod, through the compilers an app sets itself. Naming others here keeps the usual ones from being loaded. */
const neverAsked = (): never => {
  throw new Error('A route was added before its compilers were set.');
};
export const schemaController = { compilersFactory: { buildValidator: neverAsked, buildSerializer: neverAsked } };
