/** Returns the larger array, with the smaller one's elements. */
function moved<T extends Uint8Array | Uint16Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

const CELLS_AT_START = 256;

/**
 * Cells of a bag, in the order in which a walk down from its roots met them. They are in flat arrays, so a cell costs no object. A cell's value in an
 * array is at the cell's number. A cell's references are four numbers of other cells, from four times its own on.
 */
export class BagCells {
  count = 0;
  /** Indexes in the source table. */
  cell = new Uint32Array(CELLS_AT_START);
  refCount = new Uint8Array(CELLS_AT_START);
  refs = new Uint32Array(CELLS_AT_START * 4);
  /** Number of cells below, at most 255; 0 marks the top of a part. */
  weight = new Uint8Array(CELLS_AT_START);
  /** 1 for a cell with more than one reference to it. */
  shared = new Uint8Array(CELLS_AT_START);
  /** Progress of a cell on its way to a position. */
  state = new Uint8Array(CELLS_AT_START);
  /** Position from the end of the bag. */
  place = new Uint32Array(CELLS_AT_START);
  /** Numbers of the cells in the order of the bag, once all have a position. */
  order = new Uint32Array(CELLS_AT_START);
  /** Numbers of the cells, each after all cells below it. */
  upward = new Uint32Array(CELLS_AT_START);
  #raised = 0;
  /** Hash table. A bucket, chosen by the low bits of a prefix, has the latest cell plus one. Each cell links to the cell before it, plus one. */
  #buckets = new Uint32Array(CELLS_AT_START * 2);
  #before = new Uint32Array(CELLS_AT_START);
  #prefix = new Uint32Array(CELLS_AT_START);

  get capacity(): number {
    return this.cell.length;
  }

  /** Empties the bag; the cost depends on its content. */
  clear(): void {
    for (let number = 0; number < this.count; number++) this.#buckets[this.#bucketOf(this.#prefix[number]!)] = 0;
    this.count = 0;
    this.#raised = 0;
  }

  /** Adds a cell and returns its number. @param prefix first 32 bits of its hash */
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

  /** Records that all cells below a cell are in the bag. */
  raise(number: number): void {
    this.upward[this.#raised++] = number;
  }

  /** Returns the latest cell whose hash begins with `prefix`, or the latest before `number`; -1 for none. */
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
