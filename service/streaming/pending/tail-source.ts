import type { Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';

import type { Change, TraceSnapshot } from '../changes.ts';
import type { WatchedHub } from '../hub.ts';
import { createNewestWork } from './newest-work.ts';

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
  readonly hub: Pick<WatchedHub, 'publish' | 'watchesPending' | 'claim'>;
  readonly counted: (outcome: TailOutcome) => void;
  readonly logger: Logger;
};

/** Result of the simulation of a tail. */
export type TailOutcome = 'shown' | 'empty' | 'outdated' | 'displaced' | 'elsewhere' | 'failed';

/** Counts simulated tails. */
export function createTailCounter(register: Registry): TailSourceDependencies['counted'] {
  const tails = new Counter({
    name: 'ton_streaming_tails_total',
    help: 'Simulations of the rest of begun traces, by outcome: shown, empty (no message is on its way), outdated (a later block has more), displaced (by newer traces), elsewhere (another pod simulates it), failed',
    labelNames: ['outcome'],
    registers: [register],
  });
  return (outcome) => tails.inc({ outcome });
}

/** Traces that wait for their simulation, a second or two of work; beyond the bound the oldest is left out. */
const WAITING_MAX = 64;

export function createTailSource({
  snapshotOf,
  findPending,
  hub,
  counted,
  logger,
}: TailSourceDependencies): TailSource {
  const work = createNewestWork<TraceSnapshot>({
    waitingMax: WAITING_MAX,
    async run(change, signal, isNewest) {
      if ((await findPending(change.key, signal)) !== undefined) return;
      // All pods have the snapshot of one.
      if (!(await hub.claim(`${change.key}:${change.position?.mcSeqno}`))) return counted('elsewhere');
      const snapshot = await snapshotOf(change, signal);
      if (snapshot === undefined) counted('empty');
      // A later block has more of the trace, or its end.
      else if (!isNewest()) counted('outdated');
      else {
        await hub.publish([snapshot]);
        counted('shown');
      }
    },
    onDisplaced: () => counted('displaced'),
    onFailure(error, key) {
      counted('failed');
      logger.debug({ err: error, key }, 'the tail of a trace was not simulated');
    },
  });

  function isWatched({ key, hashes, transactions }: TraceSnapshot): boolean {
    const accounts = transactions.flatMap(({ named }) => named);
    return hub.watchesPending({ accounts, traces: [key, ...hashes] });
  }

  return {
    note(changes) {
      for (const change of changes) {
        if (change.kind !== 'trace') continue;
        const isShown = change.stage === 'open' && change.traceId === null && isWatched(change);
        work.put(change.key, isShown ? change : undefined);
      }
    },
    close: work.close,
  };
}
