import type { Logger } from 'pino';

import type { Change, TraceSnapshot } from '../changes.ts';
import type { WatchedHub } from '../hub.ts';

/** Gives the hub pending snapshots of traces that have begun and that this service did not send (service/streaming/README.md#tails). */
export type TailSource = {
  /** Takes the final changes of a block, after the hub has them. */
  readonly note: (changes: readonly Change[]) => void;
  /** Resolves when no tail is being simulated. */
  readonly close: () => Promise<void>;
};

export type TailSourceDependencies = {
  /** Snapshot of the trace after a change that left it open; undefined when it has no tail to show. */
  readonly snapshotOf: (change: TraceSnapshot, signal: AbortSignal) => Promise<TraceSnapshot | undefined>;
  /** Finds the pending snapshot of a message that this service sent. It shows the whole trace already. */
  readonly findPending: (key: string, signal: AbortSignal) => Promise<TraceSnapshot | undefined>;
  readonly hub: Pick<WatchedHub, 'publish' | 'watchesPending'>;
  readonly logger: Logger;
};

/** Traces that wait for their simulation, a second or two of work; beyond the bound the oldest is left out. */
const WAITING_MAX = 64;

export function createTailSource({ snapshotOf, findPending, hub, logger }: TailSourceDependencies): TailSource {
  const ending = new AbortController();
  const { signal } = ending;
  /** Newest change of each trace that is open, oldest first. */
  const waiting = new Map<string, TraceSnapshot>();
  /** Key of the trace at work, as long as no later change has it. */
  let current: string | undefined;
  let working: Promise<void> | undefined;

  async function show(change: TraceSnapshot): Promise<void> {
    if ((await findPending(change.key, signal)) !== undefined) return;
    const snapshot = await snapshotOf(change, signal);
    // A later block has more of the trace, or its end.
    if (snapshot !== undefined && current === change.key) await hub.publish([snapshot]);
  }

  async function work(): Promise<void> {
    for (const [key, change] of waiting) {
      waiting.delete(key);
      current = key;
      try {
        await show(change);
      } catch (error) {
        if (signal.aborted) return;
        logger.debug({ err: error, key }, 'the tail of a trace was not simulated');
      }
    }
  }

  function start(): void {
    if (waiting.size === 0 || signal.aborted) return;
    working ??= work().finally(() => {
      working = undefined;
      start();
    });
  }

  function isWatched({ key, hashes, transactions }: TraceSnapshot): boolean {
    const accounts = transactions.flatMap(({ named }) => named);
    return hub.watchesPending({ accounts, traces: [key, ...hashes] });
  }

  return {
    note(changes) {
      for (const change of changes) {
        if (change.kind !== 'trace') continue;
        waiting.delete(change.key);
        if (current === change.key) current = undefined;
        if (change.stage === 'open' && change.traceId === null && isWatched(change)) waiting.set(change.key, change);
        const [oldest] = waiting.keys();
        if (waiting.size > WAITING_MAX && oldest !== undefined) waiting.delete(oldest);
      }
      start();
    },
    async close() {
      waiting.clear();
      ending.abort(new Error('the tail source is closed'));
      await working;
    },
  };
}
