/** Times at which recent heads were first served, from which lags of lite servers are computed. */
export type HeadTimes = {
  /** Records that a new head is served. */
  add(seqno: number): void;
  /** Returns for how many milliseconds the first block after `tipSeqno` has been served; 0 for the newest block. */
  lagMs(tipSeqno: number): number;
};

/** Most recorded heads. A lite server further behind is reported with the lag of the oldest recorded head. */
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
