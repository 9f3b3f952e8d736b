/** Slots of loopback's addresses: more than the threads of a run. */
const slotsMax = 16;

/**
 * Slot of this thread, 0 to 15. Clusters of two threads run at once on one loopback interface: the slot keeps addresses of their pods and
 * Services apart. Vitest numbers its threads from 1; a program without vitest has slot 0.
 */
export const workerSlot = (Number(process.env['VITEST_POOL_ID'] ?? 1) - 1) % slotsMax;
