/** Plain JSON values as written in a file, before anything has been checked. Pure. */

export type RawObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is RawObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A member of an object, or undefined; never something inherited. */
export const memberOf = (value: unknown, key: string): unknown =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** The same object with each member changed; a key such as `__proto__` stays an ordinary key. */
export const mapMembers = (value: RawObject, change: (member: unknown, key: string) => unknown): RawObject =>
  Object.fromEntries(Object.entries(value).map(([key, member]) => [key, change(member, key)]));
