/**
 * What is there now, under numbers it is given, where things come and go thousands of times a second (ADR 26). Numbers are never
 * given twice and only rise; a number that is not there any more finds nothing.
 */
export class Roster<Value extends object> {
  /** A value stands where the low bits of its number say; a number whose place is taken is left out. */
  #values: (Value | undefined)[] = Array(SMALLEST).fill(undefined);
  #numbers: number[] = Array(SMALLEST).fill(0);
  #size = 0;
  #next: number;

  /** `first`: the number that is given first. */
  constructor(first = 1) {
    this.#next = first;
  }

  get size(): number {
    return this.#size;
  }

  /** Above every number given so far. */
  get next(): number {
    return this.#next;
  }

  add(value: Value): number {
    if (this.#size * 2 >= this.#values.length) this.#grow();
    const mask = this.#values.length - 1;
    let number = this.#next;
    while (this.#values[number & mask] !== undefined) number += 1;
    this.#next = number + 1;
    this.#values[number & mask] = value;
    this.#numbers[number & mask] = number;
    this.#size += 1;
    return number;
  }

  get(number: number): Value | undefined {
    const place = number & (this.#values.length - 1);
    return this.#numbers[place] === number ? this.#values[place] : undefined;
  }

  /** False when there was none. */
  delete(number: number): boolean {
    if (this.get(number) === undefined) return false;
    this.#values[number & (this.#values.length - 1)] = undefined;
    this.#size -= 1;
    return true;
  }

  clear(): void {
    this.#values.fill(undefined);
    this.#size = 0;
  }

  /** The one a test is true of; any of them, where it is true of several. Puts nothing in order, and so takes no list. */
  find(test: (value: Value) => boolean): Value | undefined {
    return this.#values.find((value) => value !== undefined && test(value));
  }

  /** All that are there, in the order they came. */
  values(): Value[] {
    if (this.#size === 0) return [];
    return this.#numbers
      .filter((_number, place) => this.#values[place] !== undefined)
      .sort((one, other) => one - other)
      .flatMap((number) => this.get(number) ?? []);
  }

  /** Numbers that differ in their low bits still do with one bit more. */
  #grow(): void {
    const [values, numbers] = [this.#values, this.#numbers];
    const mask = values.length * 2 - 1;
    this.#values = Array(mask + 1).fill(undefined);
    this.#numbers = Array(mask + 1).fill(0);
    values.forEach((value, place) => {
      const number = numbers[place] ?? 0;
      if (value === undefined) return;
      this.#values[number & mask] = value;
      this.#numbers[number & mask] = number;
    });
  }
}

const SMALLEST = 16;
