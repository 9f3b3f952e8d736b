/** What one key did on one UTC day. */
export type Usage = {
  /** `2026-11-21`. */
  readonly day: string;
  /** Requests that were allowed, by operation. */
  readonly operations: Readonly<Record<string, number>>;
  /** Requests refused for want of tokens or places. */
  readonly refused: number;
};

/** Counts what keys do, day by day. */
export type UsageCounter = {
  /** `operation` null: refused. */
  count(keyId: string, operation: string | null, unixMs: number): void;
  read(keyId: string, unixMs: number): Promise<Usage>;
  close(): Promise<void>;
};

/** What was counted of one key on one day; `refusedField` beside operations. */
export type Counts = Map<string, number>;

/** No operation's name. */
export const refusedField = '!refused';

/** `2026-11-21` in UTC. */
export function dayText(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 10);
}

export function usageOf(day: string, counts: Iterable<readonly [string, number]>): Usage {
  const all = new Map(counts);
  const refused = all.get(refusedField) ?? 0;
  all.delete(refusedField);
  return { day, operations: Object.fromEntries([...all].toSorted(([a], [b]) => (a < b ? -1 : 1))), refused };
}

export function addCount(counts: Counts, field: string, by: number): void {
  counts.set(field, (counts.get(field) ?? 0) + by);
}

/** Counts of this process, for the day that is: bounded by the keys and the operations there are. */
export function createOwnUsage(): UsageCounter {
  let day = '';
  let dayEndMs = 0;
  const byKey = new Map<string, Counts>();
  const begin = (unixMs: number): void => {
    if (unixMs < dayEndMs) return;
    byKey.clear();
    day = dayText(unixMs);
    dayEndMs = Date.parse(day) + 86_400_000;
  };
  return {
    count(keyId, operation, unixMs) {
      begin(unixMs);
      let counts = byKey.get(keyId);
      if (counts === undefined) byKey.set(keyId, (counts = new Map()));
      addCount(counts, operation ?? refusedField, 1);
    },
    read(keyId, unixMs) {
      begin(unixMs);
      return Promise.resolve(usageOf(day, byKey.get(keyId) ?? []));
    },
    close: () => Promise.resolve(),
  };
}
