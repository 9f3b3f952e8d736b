import { createRate, duration, etaSeconds, grouped, WINDOW_MS } from '../runtime/rate.ts';

/** Progress of the index in `/status`. */
export type ProgressView = {
  /** The newest masterchain block of the network; undefined before the first. */
  readonly networkSeqno: number | undefined;
  /** Newest block indexed at the head, by any process. */
  readonly headSeqno: number | undefined;
  readonly lagBlocks: number | undefined;
  /** Age of that block, in seconds; undefined when another process follows the head. */
  readonly lagSeconds: number | undefined;
  /** Rate of this process over the last minute. */
  readonly blocksPerSecond: number;
  readonly transactionsPerSecond: number;
  /** Masterchain blocks of the past that no process has indexed yet; undefined while unknown. */
  readonly remainingBlocks: number | undefined;
  /** Seconds until the past is indexed, at the recent pace of all processes; undefined while unknown. */
  readonly etaSeconds: number | undefined;
};

export type Progress = {
  /** So many masterchain blocks with so many transactions were written. */
  readonly written: (blocks: number, transactions: number) => void;
  /** Called with the remaining blocks of the past, from Postgres. */
  readonly remaining: (blocks: number) => void;
  readonly view: () => ProgressView;
};

export type ProgressDependencies = {
  readonly network: () => { readonly seqno: number } | undefined;
  /** The newest indexed block, and its `gen_utime` if known. */
  readonly position: () => { readonly seqno: number; readonly utime?: number } | undefined;
  /** Milliseconds, ascending. */
  readonly now: () => number;
  readonly unixMs: () => number;
};

export function createProgress({ network, position, now, unixMs }: ProgressDependencies): Progress {
  const startMs = now();
  const blocks = createRate(startMs);
  const transactions = createRate(startMs);
  let left: number | undefined;
  /** Remaining blocks at moments of the last window, oldest first. */
  let history: { readonly atMs: number; readonly left: number }[] = [];

  return {
    written(blockCount, transactionCount) {
      blocks.add(now(), blockCount);
      transactions.add(now(), transactionCount);
    },
    remaining(count) {
      left = count;
      const atMs = now();
      history = [...history.filter((one) => one.atMs > atMs - WINDOW_MS), { atMs, left: count }];
    },
    view() {
      const networkSeqno = network()?.seqno;
      const head = position();
      return {
        networkSeqno,
        headSeqno: head?.seqno,
        lagBlocks:
          head === undefined || networkSeqno === undefined ? undefined : Math.max(0, networkSeqno - head.seqno),
        lagSeconds: head?.utime === undefined ? undefined : Math.max(0, Math.round(unixMs() / 1000 - head.utime)),
        blocksPerSecond: blocks.perSecond(now()),
        transactionsPerSecond: transactions.perSecond(now()),
        remainingBlocks: left,
        etaSeconds: left === undefined ? undefined : etaSeconds(history),
      };
    },
  };
}

/** Formats a line for a terminal: `index 1,234 of 1,235 (1 behind) | past: 5,000 left, 61.5 blocks/s, 3,400.0 tx/s, 1m 22s to go`. */
export function formatProgress(view: ProgressView): string {
  const { networkSeqno, headSeqno, lagBlocks, remainingBlocks, etaSeconds: eta } = view;
  const head = headSeqno === undefined ? 'index: head followed elsewhere' : `index ${grouped(headSeqno)}`;
  const of = networkSeqno === undefined || headSeqno === undefined ? '' : ` of ${grouped(networkSeqno)}`;
  const lag = lagBlocks === undefined || lagBlocks === 0 ? '' : ` (${grouped(lagBlocks)} behind)`;
  const parts = [
    `${head}${of}${lag}`,
    ...(remainingBlocks === undefined || remainingBlocks === 0
      ? []
      : [`past: ${grouped(remainingBlocks)} blocks left`]),
    `${view.blocksPerSecond.toFixed(1)} blocks/s, ${view.transactionsPerSecond.toFixed(1)} tx/s`,
    ...(eta === undefined || remainingBlocks === 0 ? [] : [`${duration(eta)} to go`]),
  ];
  return parts.join(' | ');
}
