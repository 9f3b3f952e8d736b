/** Returns the pause before the next attempt. It doubles with each failure up to `maxMs` and varies over its upper half. */
export function backoffMs(failures: number, minMs: number, maxMs: number, random: () => number): number {
  const fullMs = Math.min(maxMs, minMs * 2 ** (failures - 1));
  return fullMs * (0.5 + random() / 2);
}
