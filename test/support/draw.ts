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

export function oneOf<T>(draw: Draw, items: readonly T[]): T {
  return items[draw(items.length)] as T;
}
