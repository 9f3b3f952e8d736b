import type { Logger } from 'pino';

import type { Pending, PendingNews, PendingTrace } from '#service/pending/pending.ts';
import type { Change, InvalidationReason } from '../changes.ts';
import type { WatchedHub } from '../hub.ts';
import { createNewestWork } from './newest-work.ts';
import { hashesOf, type PendingSnapshots } from './pending-snapshots.ts';

/** Gives the hub snapshots of pending traces that a connection watches, and withdraws those that do not happen. */
export type PendingSource = {
  /** Ends. Resolves when no snapshot is being made. */
  readonly close: () => Promise<void>;
};

export type PendingSourceDependencies = {
  readonly pending: Pick<Pending, 'listen'>;
  readonly snapshots: Pick<PendingSnapshots, 'of'>;
  readonly hub: Pick<WatchedHub, 'publish' | 'watchesPending'>;
  readonly unixMs: () => number;
  readonly logger: Logger;
  /** Takes the seconds from the acceptance of a message to the first events of its trace. */
  readonly onLag: (seconds: number) => void;
};

/** Traces whose news wait. The newest news of a trace replaces older ones; beyond the bound the oldest is left out. */
const WAITING_MAX = 2_048;

/** Traces whose first event is measured. */
const MEASURED_MAX = 2_048;

export function createPendingSource(dependencies: PendingSourceDependencies): PendingSource {
  const { pending, snapshots, hub, unixMs, logger, onLag } = dependencies;
  const measured = new Set<string>();

  function measure({ key, sentUnixMs }: PendingTrace): void {
    const name = key.toString('hex');
    if (measured.has(name)) return;
    const [oldest] = measured.add(name);
    if (measured.size > MEASURED_MAX && oldest !== undefined) measured.delete(oldest);
    onLag(Math.max(unixMs() - sentUnixMs, 0) / 1000);
  }

  async function changeOf(news: PendingNews, signal: AbortSignal): Promise<Change | undefined> {
    if (news.kind === 'gone') {
      const reason = reasonOf(news);
      return reason && { kind: 'invalidation', key: news.key, reason };
    }
    const { trace } = news;
    const accounts = [...trace.accounts.map(upperKey), ...trace.actions.flatMap((action) => action.accounts)];
    return hub.watchesPending({ accounts, traces: hashesOf(trace) }) ? snapshots.of(trace, signal) : undefined;
  }

  const work = createNewestWork<PendingNews>({
    waitingMax: WAITING_MAX,
    async run(news, signal) {
      const change = await changeOf(news, signal);
      if (change === undefined) return;
      await hub.publish([change]);
      if (news.kind === 'trace') measure(news.trace);
    },
    onFailure: (error, key) => logger.error({ err: error, key }, 'a pending trace was not streamed'),
  });

  const stop = pending.listen((news) =>
    work.put(news.kind === 'gone' ? news.key : news.trace.key.toString('hex'), news),
  );

  return {
    async close() {
      stop();
      await work.close();
    },
  };
}

/** Reason for which snapshots of a trace are void; undefined when the trace happens. */
function reasonOf({
  reason,
  isTaken,
}: Extract<PendingNews, { readonly kind: 'gone' }>): InvalidationReason | undefined {
  if (reason === 'indexed' || isTaken) return undefined;
  return reason === 'conflict' ? 'conflict' : 'expired';
}

/** Pending traces name accounts in lower case. */
function upperKey(account: string): string {
  return account.toUpperCase();
}
