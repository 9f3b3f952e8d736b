/** Semaphore. Waiting callers enter in the order in which they came. */
export type Gate = {
  /** Resolves with a function that frees the slot. Rejects with the signal's reason if the signal aborts first. */
  enter(signal: AbortSignal): Promise<() => void>;
  /** Reports that no slot is taken and no caller waits. */
  isEmpty(): boolean;
};

export function createGate(placesMax: number): Gate {
  let taken = 0;
  const waiting = new Set<() => void>();

  const leave = (): void => {
    const [next] = waiting;
    if (next === undefined) taken--;
    else next();
  };

  /** Takes a slot. Freeing it twice frees it once. */
  const place = (): (() => void) => {
    let isLeft = false;
    return () => {
      if (!isLeft) leave();
      isLeft = true;
    };
  };

  return {
    enter(signal) {
      signal.throwIfAborted();
      if (taken < placesMax) {
        taken++;
        return Promise.resolve(place());
      }
      return new Promise((resolve, reject) => {
        const letIn = (): void => {
          waiting.delete(letIn);
          signal.removeEventListener('abort', giveUp);
          resolve(place());
        };
        const giveUp = (): void => {
          waiting.delete(letIn);
          reject(signal.reason as Error);
        };
        waiting.add(letIn);
        signal.addEventListener('abort', giveUp, { once: true });
      });
    },
    isEmpty: () => taken === 0 && waiting.size === 0,
  };
}

/** Semaphore for each name. Unused names are removed. */
export type Gates = { enter(name: string, signal: AbortSignal): Promise<() => void> };

export function createGates(placesMax: number): Gates {
  const gates = new Map<string, Gate>();
  return {
    async enter(name, signal) {
      const gate = gates.get(name) ?? createGate(placesMax);
      gates.set(name, gate);
      const forget = (): void => {
        if (gate.isEmpty()) gates.delete(name);
      };
      try {
        const leave = await gate.enter(signal);
        return () => {
          leave();
          forget();
        };
      } catch (error) {
        forget();
        throw error;
      }
    },
  };
}
