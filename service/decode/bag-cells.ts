import { moved } from './flat-cells.ts';

const CELLS_AT_START = 256;

/**
 * Cells that a bag will hold, in the order in which a walk down from its roots met them: in flat arrays, so that a cell costs no object. What an array has for
 * a cell is at the cell's number; a cell's references are four numbers of others, from four times its own on.
 */
export class BagCells {
  count = 0;
  /** Indexes in the table that they come from. */
  cell = new Uint32Array(CELLS_AT_START);
  refCount = new Uint8Array(CELLS_AT_START);
  refs = new Uint32Array(CELLS_AT_START * 4);
  /** How many cells hang below, at most 255; 0 marks the top of a part. */
  weight = new Uint8Array(CELLS_AT_START);
  /** 1 when it is referred to more than once. */
  shared = new Uint8Array(CELLS_AT_START);
  /** How far a cell has come on its way to a place. */
  state = new Uint8Array(CELLS_AT_START);
  /** Place from the end of the bag. */
  place = new Uint32Array(CELLS_AT_START);
  /** Numbers of the cells as they stand in the bag, once all have a place. */
  order = new Uint32Array(CELLS_AT_START);
  /** Numbers of the cells, each after all that is below it. */
  upward = new Uint32Array(CELLS_AT_START);
  #raised = 0;
  /** The hash table: by the low bits of a prefix the latest cell plus one, and from cell to cell the one before, plus one. */
  #buckets = new Uint32Array(CELLS_AT_START * 2);
  #before = new Uint32Array(CELLS_AT_START);
  #prefix = new Uint32Array(CELLS_AT_START);

  get capacity(): number {
    return this.cell.length;
  }

  /** Empties the bag at the price of what was in it. */
  clear(): void {
    for (let number = 0; number < this.count; number++) this.#buckets[this.#bucketOf(this.#prefix[number]!)] = 0;
    this.count = 0;
    this.#raised = 0;
  }

  /** Takes a cell in and returns its number. @param prefix first 32 bits of its hash */
  append(cell: number, refCount: number, prefix: number): number {
    if (this.count === this.capacity) this.#grow();
    const number = this.count++;
    this.cell[number] = cell;
    this.refCount[number] = refCount;
    this.weight[number] = 1;
    this.shared[number] = 0;
    this.state[number] = 0;
    this.#prefix[number] = prefix;
    this.#enter(number);
    return number;
  }

  /** Tells that all below a cell is in the bag. */
  raise(number: number): void {
    this.upward[this.#raised++] = number;
  }

  /** The latest cell whose hash begins with `prefix`, or the latest before `number`; -1 for none. */
  findAlike(prefix: number, number?: number): number {
    let next = number === undefined ? this.#buckets[this.#bucketOf(prefix)]! : this.#before[number]!;
    while (next !== 0 && this.#prefix[next - 1] !== prefix) next = this.#before[next - 1]!;
    return next - 1;
  }

  #bucketOf(prefix: number): number {
    return prefix & (this.#buckets.length - 1);
  }

  #enter(number: number): void {
    const bucket = this.#bucketOf(this.#prefix[number]!);
    this.#before[number] = this.#buckets[bucket]!;
    this.#buckets[bucket] = number + 1;
  }

  #grow(): void {
    const capacity = this.capacity * 2;
    this.cell = moved(this.cell, new Uint32Array(capacity));
    this.refCount = moved(this.refCount, new Uint8Array(capacity));
    this.refs = moved(this.refs, new Uint32Array(capacity * 4));
    this.weight = moved(this.weight, new Uint8Array(capacity));
    this.shared = moved(this.shared, new Uint8Array(capacity));
    this.state = moved(this.state, new Uint8Array(capacity));
    this.place = moved(this.place, new Uint32Array(capacity));
    this.order = moved(this.order, new Uint32Array(capacity));
    this.upward = moved(this.upward, new Uint32Array(capacity));
    this.#before = moved(this.#before, new Uint32Array(capacity));
    this.#prefix = moved(this.#prefix, new Uint32Array(capacity));
    this.#buckets = new Uint32Array(capacity * 2);
    for (let number = 0; number < this.count; number++) this.#enter(number);
  }
}
