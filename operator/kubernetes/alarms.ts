import type { Clock } from './clock.ts';

/** Alarms by key, at most one for each key. */
type Alarms<K> = {
  /** Sets the alarm of a key. If the key has an alarm, the earlier of both rings. */
  set(key: K, delayMs: number): void;
  cancel(key: K): void;
  cancelAll(): void;
};

/** @param ring called when a key is due; its alarm is gone by then */
export function createAlarms<K>(clock: Clock, ring: (key: K) => void): Alarms<K> {
  const alarms = new Map<K, { readonly atMs: number; readonly cancel: () => void }>();

  function cancel(key: K): void {
    alarms.get(key)?.cancel();
    alarms.delete(key);
  }

  return {
    set(key, delayMs) {
      const atMs = clock.now() + delayMs;
      const set = alarms.get(key);
      if (set !== undefined && set.atMs <= atMs) return;
      set?.cancel();
      const cancelAlarm = clock.after(delayMs, () => {
        alarms.delete(key);
        ring(key);
      });
      alarms.set(key, { atMs, cancel: cancelAlarm });
    },
    cancel,
    cancelAll() {
      for (const key of alarms.keys()) cancel(key);
    },
  };
}
