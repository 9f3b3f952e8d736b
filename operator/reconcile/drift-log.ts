/** Remembers corrections of drift, to tell a slip from a fight with another controller. */
export type DriftLog = {
  /** Notes one correction of the object; true when there were so many lately that somebody fights us. */
  corrected(uid: string): boolean;
  /** True while the object is fought over. */
  isFight(uid: string): boolean;
};

/** More corrections than this within the window are a fight (operator sheet 4.4). */
const correctionsMax = 5;
const windowMs = 600_000;

/** Objects remembered; those corrected longest ago are forgotten first. */
const objectsMax = 10_000;

export function createDriftLog({ now }: { readonly now: () => number }): DriftLog {
  const corrections = new Map<string, readonly number[]>();

  function recent(uid: string): readonly number[] {
    return (corrections.get(uid) ?? []).filter((atMs) => now() - atMs < windowMs);
  }

  return {
    corrected(uid) {
      const times = [...recent(uid), now()].slice(-correctionsMax - 1);
      corrections.delete(uid);
      corrections.set(uid, times);
      const [oldest] = corrections.keys();
      if (corrections.size > objectsMax && oldest !== undefined) corrections.delete(oldest);
      return times.length > correctionsMax;
    },
    isFight: (uid) => recent(uid).length > correctionsMax,
  };
}
