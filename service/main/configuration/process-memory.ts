import { totalmem } from 'node:os';

/** Memory that the process may take: the limit of its container, or the machine's. */
export function processMemoryBytes(): number {
  // Without a bound the system reports 0, or more than there is.
  return Math.min(process.constrainedMemory() || Infinity, totalmem());
}
