import { randomInt } from 'node:crypto';

/** A number of 0 to `below` - 1. */
export type Draw = (below: number) => number;

/** xorshift32: the same seed draws the same. */
export function createDraw(seed: number): Draw {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** Shares 0..1 of the numbers that a draw gives. */
export function createShares(draw: Draw): () => number {
  return () => draw(SHARES) / SHARES;
}

const SHARES = 2 ** 32;

/** Returns the seed of a run and prints it. `TONPLANE_SEED` repeats a run. @param what is drawn */
export function readSeed(what: string): number {
  const given = process.env['TONPLANE_SEED'];
  const seed = given === undefined ? randomInt(1, 2 ** 31) : Number(given);
  if (!Number.isInteger(seed) || seed === 0)
    throw new Error(`TONPLANE_SEED is ${given}, expected an integer other than 0`);
  process.stderr.write(`${what}: TONPLANE_SEED=${seed} repeats them\n`);
  return seed;
}

export function oneOf<T>(draw: Draw, items: readonly T[]): T {
  return items[draw(items.length)] as T;
}
