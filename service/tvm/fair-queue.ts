/** A bounded queue that serves its callers in turn, so that one with many entries holds up no other. */
export type FairQueue<T> = {
  readonly length: number;
  /** False when the queue is full. */
  push(caller: string, entry: T): boolean;
  /** Takes the oldest entry of the next caller in turn that `mayRun`. */
  shift(mayRun: (caller: string) => boolean): T | undefined;
  /** Takes this very entry out; false when it is not there. */
  remove(caller: string, entry: T): boolean;
  /** Takes all out. */
  clear(): T[];
};

/** @param lengthMax entries of all callers */
export function createFairQueue<T>(lengthMax: number): FairQueue<T> {
  /** In the order of turns: the caller that is served goes behind all others. */
  const callers = new Map<string, T[]>();
  let length = 0;

  function keep(caller: string, entries: T[]): void {
    callers.delete(caller);
    if (entries.length > 0) callers.set(caller, entries);
  }

  return {
    get length() {
      return length;
    },
    push(caller, entry) {
      if (length >= lengthMax) return false;
      const entries = callers.get(caller);
      if (entries === undefined) callers.set(caller, [entry]);
      else entries.push(entry);
      length++;
      return true;
    },
    shift(mayRun) {
      for (const [caller, entries] of callers) {
        if (!mayRun(caller)) continue;
        const entry = entries.shift();
        keep(caller, entries);
        length--;
        return entry;
      }
      return undefined;
    },
    remove(caller, entry) {
      const entries = callers.get(caller);
      const at = entries?.indexOf(entry) ?? -1;
      if (at < 0) return false;
      entries!.splice(at, 1);
      if (entries!.length === 0) callers.delete(caller);
      length--;
      return true;
    },
    clear() {
      const all = [...callers.values()].flat();
      callers.clear();
      length = 0;
      return all;
    },
  };
}
