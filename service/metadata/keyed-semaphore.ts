import { createSemaphore, type Semaphore } from '../runtime/semaphore.ts';

/** Semaphore for each name. Unused names are removed. */
export type KeyedSemaphore = {
  /** Acquires a slot of the name, like `Semaphore.acquire`. */
  acquire(name: string, signal: AbortSignal): Promise<() => void>;
};

/** @param max slots of each name */
export function createKeyedSemaphore(max: number): KeyedSemaphore {
  const semaphores = new Map<string, Semaphore>();
  return {
    async acquire(name, signal) {
      const semaphore = semaphores.get(name) ?? createSemaphore(max);
      semaphores.set(name, semaphore);
      const removeUnused = (): void => {
        if (semaphore.taken === 0 && semaphore.waiting === 0) semaphores.delete(name);
      };
      try {
        const release = await semaphore.acquire(signal);
        return () => {
          release();
          removeUnused();
        };
      } catch (error) {
        removeUnused();
        throw error;
      }
    },
  };
}
