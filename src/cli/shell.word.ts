/** A word as a shell takes it for one; without quotes where none are needed. Pure. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./\\-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
