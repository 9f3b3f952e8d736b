/** When recent heads were first served, to tell how long a lite server has been without one. */
export type HeadTimes = {
  /** A new head is served. */
  add(seqno: number): void;
  /** Milliseconds for which the first block after `tipSeqno` has been served; 0 when it has the newest one. */
  lagMs(tipSeqno: number): number;
};

/** Heads remembered: a lite server further behind is said to be so as long as the oldest of them is old. */
const HEADS_MAX = 128;

export function createHeadTimes(dependencies: { now: () => number }): HeadTimes {
  const heads: { readonly seqno: number; readonly sinceMs: number }[] = [];

  return {
    add(seqno) {
      heads.push({ seqno, sinceMs: dependencies.now() });
      if (heads.length > HEADS_MAX) heads.shift();
    },
    lagMs(tipSeqno) {
      const missed = heads.find(({ seqno }) => seqno > tipSeqno);
      return missed === undefined ? 0 : dependencies.now() - missed.sinceMs;
    },
  };
}
