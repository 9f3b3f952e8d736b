import type { TraceSnapshot } from '../changes.ts';
import type { LabelTexts } from './label-texts.ts';
import { createTraceRendering } from './render.ts';
import { accountsOf } from './trace-selection.ts';
import { createRenderableTrace, type RenderableTrace } from './trace-views.ts';

/** Bytes of shared events and of the notes about them. Above it all of them are forgotten. */
const BYTES_MAX = 16 * 1024 * 1024;

/** Bytes of a note: about a transaction or an action of a shared trace, or about one use of it. */
const NOTE_BYTES = 500;

/** Final traces of the past without labels. Many connections come back at a time, and each text is made once for all of them. */
export class SharedRenderings {
  readonly #bytesMax: number;
  /** A snapshot stays as long as its block is in the memory. */
  #bySnapshot = new WeakMap<TraceSnapshot, RenderableTrace>();
  #bytes = 0;

  constructor(bytesMax: number = BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** @param labels texts of no labels */
  of(snapshot: TraceSnapshot, labels: LabelTexts): RenderableTrace {
    this.#count(NOTE_BYTES);
    const known = this.#bySnapshot.get(snapshot);
    if (known !== undefined) return known;
    this.#count(NOTE_BYTES * (snapshot.transactions.length + snapshot.actions.length));
    const rendering = createTraceRendering(snapshot, labels, (bytes) => this.#count(bytes));
    const made = createRenderableTrace({ snapshot, record: null, accounts: accountsOf(snapshot), rendering }, false);
    this.#bySnapshot.set(snapshot, made);
    return made;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#bytesMax) return;
    this.#bySnapshot = new WeakMap();
    this.#bytes = 0;
  }
}
