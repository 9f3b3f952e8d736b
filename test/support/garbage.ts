import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects the garbage of this thread. */
export const collectGarbage = runInNewContext('gc') as () => void;

/** Returns the bytes of this thread's objects and buffers after a collection of garbage. */
export function heapBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
