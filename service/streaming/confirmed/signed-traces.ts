import type { Logger } from 'pino';

import type { TraceSnapshot } from '../changes.ts';
import type { WatchedHub } from '../hub.ts';
import type { ConfirmedSnapshots } from './confirmed-snapshots.ts';
import type { Followed } from './followed-chain.ts';
import type { OpenTraces } from './open-traces.ts';
import type { SeenBlock } from './seen-block.ts';

/** Makes snapshots of open traces, of which a part is signed. */
export type SignedTraces = {
  /** Snapshots of those that a connection watches, by their keys in hex. Rejects when the source ends. */
  readonly watched: (keys: readonly string[]) => Promise<readonly TraceSnapshot[]>;
  /** Snapshot by a key in hex. Undefined for a trace whose parts are all final, and for one that changes during the work. */
  readonly find: (key: string, signal: AbortSignal) => Promise<TraceSnapshot | undefined>;
};

export type SignedTracesDependencies = {
  readonly traces: Pick<OpenTraces<SeenBlock>, 'trace' | 'finalSeqno'>;
  readonly snapshots: ConfirmedSnapshots;
  readonly hub: Pick<WatchedHub, 'watchesConfirmed'>;
  /** Newest masterchain block that the source followed. */
  readonly at: () => Followed | undefined;
  /** Ends with the source. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
};

export function createSignedTraces(dependencies: SignedTracesDependencies): SignedTraces {
  const { traces, snapshots, hub, at, signal, logger } = dependencies;
  type Trace = NonNullable<ReturnType<typeof traces.trace>>;

  const viewOf = (trace: Trace, ends: AbortSignal): Promise<TraceSnapshot | undefined> =>
    snapshots.of(
      trace,
      { newest: at()?.seqno ?? 0, version: at()?.version ?? null, finalSeqno: traces.finalSeqno },
      ends,
    );

  return {
    async watched(keys) {
      const found: TraceSnapshot[] = [];
      for (const key of keys) {
        const trace = traces.trace(key);
        const accounts = trace?.parts.map(({ transaction }) => transaction.account) ?? [];
        const hashes = [key, ...(trace?.parts.slice(0, 1).map(({ transaction }) => transaction.hash) ?? [])];
        if (trace === undefined || !hub.watchesConfirmed({ accounts, traces: hashes })) continue;
        const snapshot = await viewOf(trace, signal);
        if (snapshot !== undefined) found.push(snapshot);
      }
      return found;
    },
    async find(key, caller) {
      const trace = traces.trace(key);
      const isSigned = trace?.parts.some(({ block }) => traces.finalSeqno(block) === undefined);
      if (trace === undefined || isSigned !== true) return undefined;
      const count = trace.parts.length;
      try {
        const snapshot = await viewOf(trace, caller);
        const now = traces.trace(key)?.parts;
        return now === trace.parts && now.length === count ? snapshot : undefined;
      } catch (error) {
        caller.throwIfAborted();
        logger.debug({ err: error, key }, 'a trace of signed blocks was not shown');
        return undefined;
      }
    },
  };
}
