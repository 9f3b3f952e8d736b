/** Use of one key on one UTC day. */
export type Usage = {
  /** `2026-11-21`. */
  readonly day: string;
  /** Requests that were allowed, by operation. */
  readonly operations: Readonly<Record<string, number>>;
  /** Requests refused for lack of tokens or slots. */
  readonly refused: number;
};

/** Counts the use of keys by day. */
export type UsageCounter = {
  /** Counts one request. `operation` null: refused. */
  count(keyId: string, operation: string | null, unixMs: number): void;
  read(keyId: string, unixMs: number): Promise<Usage>;
  close(): Promise<void>;
};

/** Counts of one key on one day, by operation, with refusals under `refusedField`. */
export type Counts = Map<string, number>;

/** Field of refusals. No operation has this name. */
export const refusedField = '!refused';

/** `2026-11-21` in UTC. */
export function dayText(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 10);
}

/** Usage of a day (`YYYY-MM-DD`, UTC) from its counts: requests by operation in the order of names, and refused requests. */
export function usageOf(day: string, counts: Iterable<readonly [string, number]>): Usage {
  const all = new Map(counts);
  const refused = all.get(refusedField) ?? 0;
  all.delete(refusedField);
  return { day, operations: Object.fromEntries([...all].toSorted(([a], [b]) => (a < b ? -1 : 1))), refused };
}

export function addCount(counts: Counts, field: string, by: number): void {
  counts.set(field, (counts.get(field) ?? 0) + by);
}

/** Counts of this process for the current day, bounded by the number of keys and operations. */
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
