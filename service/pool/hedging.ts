import { createLatencySketch } from './latency-sketch.ts';
import type { LatencySketch } from './latency-sketch.ts';

/** When a read of a function is slow, learned from the function's own answers. */
export type Hedging = {
  /** An answer of this function came after `ms`. */
  observe(functionName: string, ms: number): void;
  /** No answer for this long is slow, in milliseconds. */
  delayMs(functionName: string): number;
};

/** One answer in ten is slower, which is what the budget pays for. */
const HEDGE_QUANTILE = 0.9;

/** Fewer answers say little about their tail. */
const ANSWERS_MIN = 20;

/** Functions of a lite server are 29 (lite server sheet 5); the bound only keeps a mistake from growing. */
const FUNCTIONS_MAX = 64;

/** @param options bounds of the delay; the greater one holds while little is known */
export function createHedging(options: { readonly msMin: number; readonly msMax: number }): Hedging {
  const sketches = new Map<string, LatencySketch>();

  function sketchOf(functionName: string): LatencySketch | undefined {
    const known = sketches.get(functionName);
    if (known !== undefined || sketches.size >= FUNCTIONS_MAX) return known;
    const sketch = createLatencySketch();
    sketches.set(functionName, sketch);
    return sketch;
  }

  return {
    observe: (functionName, ms) => sketchOf(functionName)?.observe(ms),
    delayMs(functionName) {
      const sketch = sketches.get(functionName);
      if (sketch === undefined || sketch.weight() < ANSWERS_MIN) return options.msMax;
      return Math.min(options.msMax, Math.max(options.msMin, sketch.quantile(HEDGE_QUANTILE) ?? options.msMax));
    },
  };
}
