import { DecodeError } from './errors.ts';

/** Limits of one read of data that a contract or a caller made. */
export type ReadLimits = {
  /** References opened, fields read, entries visited and cells written. */
  readonly steps: number;
  /** Bytes copied out of cells. */
  readonly bytes: number;
  /** Bytes of JSON of the values. */
  readonly output: number;
  /** Depth in references of one value, if its reader is recursive. */
  readonly depth: number;
};

/**
 * Limits of one read, which runs without a pause. 254 messages of a highload wallet with a jetton transfer in each take 7,900 steps. A list
 * of 255 actions is the deepest value. A message has at most 8,192 cells and 2^21 bits, some 400 KiB in a bag of cells.
 */
export const READ_LIMITS: ReadLimits = { steps: 12_000, bytes: 1 << 20, output: 3 << 19, depth: 300 };

/**
 * Remaining cost that reading data of a contract may have. Cells can be shared, so a bag of 200 bytes can spell an endless tree. Each reader takes
 * from the budget before it works, and fails with DecodeError `too_big` when nothing is left.
 */
export class ReadBudget {
  readonly limits: ReadLimits;
  #steps: number;
  #bytes: number;
  #output: number;
  /** Current depth. Code that catches an error inside `inside` resets it. */
  depth = 0;

  constructor(limits: Partial<ReadLimits> = {}) {
    this.limits = { ...READ_LIMITS, ...limits };
    this.#steps = this.limits.steps;
    this.#bytes = this.limits.bytes;
    this.#output = this.limits.output;
  }

  /** Steps taken so far. */
  get stepsTaken(): number {
    return this.limits.steps - this.#steps;
  }

  /** Bytes of JSON so far. */
  get outputTaken(): number {
    return this.limits.output - this.#output;
  }

  /** True when the failure is a spent budget, so that another try is useless. */
  get isSpent(): boolean {
    return this.#steps < 0 || this.#bytes < 0 || this.#output < 0;
  }

  /** Takes steps before they are made. Throws DecodeError `too_big`. */
  step(count = 1): void {
    this.#steps -= count;
    if (this.#steps < 0) throw spent(this.limits.steps);
  }

  /** Takes bytes before they are copied out of cells. Throws DecodeError `too_big`. */
  read(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#bytes < 0) throw spent(this.limits.bytes);
  }

  /** Takes bytes of the answer's JSON. Throws DecodeError `too_big`. */
  write(bytes: number): void {
    this.#output -= bytes;
    if (this.#output < 0) throw spent(this.limits.output);
  }

  /** Runs `read` one reference deeper. Throws DecodeError `too_big`. */
  inside<Value>(read: () => Value): Value {
    if (++this.depth > this.limits.depth) throw spent(this.limits.depth);
    const value = read();
    this.depth--;
    return value;
  }
}

function spent(limit: number): DecodeError {
  return new DecodeError('too_big', 'The data take too much work to read.', { limit });
}
