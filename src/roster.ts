/**
 * What is there now, by key, where entries come and go thousands of times a second. A Map of V8 leaves its old table pointing
 * at the new one whenever it makes room; once one such table has grown old, everything that any later one held stays until
 * the next full collection. So the values stand beside the Map, which holds nothing but keys and places.
 */
export class Roster<Key extends string | number, Value extends object> {
  readonly #places = new Map<Key, number>();
  readonly #values: (Value | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#places.size;
  }

  has(key: Key): boolean {
    return this.#places.has(key);
  }

  get(key: Key): Value | undefined {
    const place = this.#places.get(key);
    return place === undefined ? undefined : this.#values[place];
  }

  set(key: Key, value: Value): void {
    const known = this.#places.get(key);
    const place = known ?? this.#free.pop() ?? this.#values.length;
    if (known === undefined) this.#places.set(key, place);
    this.#values[place] = value;
  }

  /** False when there was none. */
  delete(key: Key): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    this.#places.delete(key);
    this.#values[place] = undefined;
    this.#free.push(place);
    return true;
  }

  clear(): void {
    for (const key of [...this.#places.keys()]) this.delete(key);
  }

  /** In the order they came; what is deleted meanwhile is left out. */
  *values(): IterableIterator<Value> {
    for (const place of this.#places.values()) {
      const value = this.#values[place];
      if (value !== undefined) yield value;
    }
  }
}
