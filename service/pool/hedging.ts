import { createLatencySketch } from './latency-sketch.ts';
import type { LatencySketch } from './latency-sketch.ts';

/** Learns when a read of a function is slow, from the function's own answers. */
export type Hedging = {
  /** Records an answer of this function after `ms`. */
  observe(functionName: string, ms: number): void;
  /** Returns the milliseconds after which a read without an answer is slow. */
  delayMs(functionName: string): number;
};

/** Quantile of the delay: a tenth of the answers are slower, which the budget pays for. */
const HEDGE_QUANTILE = 0.9;

/** Least answers for a delay; fewer say little about the slowest ones. */
const ANSWERS_MIN = 20;

/** Most functions. A lite server has 29 (service/liteserver/README.md#functions); the bound only limits a mistake. */
const FUNCTIONS_MAX = 64;

/** @param options bounds of the delay; the greater one applies while there are few answers */
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
