/** Remembers corrections of drift, to distinguish a slip from a fight with another controller. */
export type DriftLog = {
  /** Notes that these fields of an object were set back. */
  corrected(uid: string, paths: readonly string[]): void;
  /** True while another writer repeatedly changes a field of the object. */
  isFight(uid: string): boolean;
  /** Wait before the next correction; 0 for an object without a fight. */
  waitMs(uid: string): number;
};

/** More corrections of one field in the window are a fight (operator/README.md#drift). */
const CORRECTIONS_MAX = 5;
const WINDOW_MS = 600_000;

/** Pace of corrections in a fight: the cap of the queue's backoff. */
const FIGHT_PACE_MS = 300_000;

/** Objects remembered; those corrected longest ago are forgotten first. */
const OBJECTS_MAX = 10_000;

/** Fields remembered of one object: many more than any child of ours has. */
const FIELDS_MAX = 1000;

export function createDriftLog({ now }: { readonly now: () => number }): DriftLog {
  /** UID -> path -> times of its last corrections, ms. */
  const objects = new Map<string, Map<string, readonly number[]>>();

  const recent = (times: readonly number[]): readonly number[] => times.filter((atMs) => now() - atMs < WINDOW_MS);
  const fields = (uid: string): (readonly number[])[] => [...(objects.get(uid)?.values() ?? [])].map(recent);
  const isFight = (uid: string): boolean => fields(uid).some((times) => times.length > CORRECTIONS_MAX);

  return {
    corrected(uid, paths) {
      const of = objects.get(uid) ?? new Map<string, readonly number[]>();
      for (const path of paths.slice(0, FIELDS_MAX)) {
        const times = [...recent(of.get(path) ?? []), now()].slice(-CORRECTIONS_MAX - 1);
        of.delete(path);
        of.set(path, times);
      }
      for (const path of [...of.keys()].slice(0, Math.max(0, of.size - FIELDS_MAX))) of.delete(path);
      objects.delete(uid);
      objects.set(uid, of);
      const [oldest] = objects.keys();
      if (objects.size > OBJECTS_MAX && oldest !== undefined) objects.delete(oldest);
    },
    isFight,
    waitMs(uid) {
      if (!isFight(uid)) return 0;
      const lastMs = Math.max(...fields(uid).map((times) => times.at(-1) ?? 0));
      return Math.max(0, lastMs + FIGHT_PACE_MS - now());
    },
  };
}
