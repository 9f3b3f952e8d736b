import type { Logger } from 'pino';

import { StoreError } from '../store/errors.ts';
import { checkNetwork, readProgress, type IndexProgress, type NetworkHashes } from '../store/indexer-state.ts';
import { checkSchema } from '../store/migrate.ts';
import type { Store } from '../store/store.ts';

/** Looks now and then whether the index can be read: its tables may be older or newer than this release, or of another network. */
export type IndexWatch = {
  /** Why nothing can be read; undefined when all is well. A Postgres that is away for a while does not change what was known. */
  reason(): string | undefined;
  /** How far the index is, on one line. */
  text(): string;
  close(): void;
};

export type IndexWatchOptions = {
  /** That is served. */
  readonly network: NetworkHashes;
  /** Between looks while nothing can be read. */
  readonly waitingMs?: number;
  /** Between looks at tables that were good. */
  readonly calmMs?: number;
};

/** A migration takes seconds, and callers wait for it. */
const waitingDefaultMs = 1000;

/** The next migration comes with the next release. */
const calmDefaultMs = 10_000;

export function watchIndex(
  { network, waitingMs = waitingDefaultMs, calmMs = calmDefaultMs }: IndexWatchOptions,
  { store, logger }: { readonly store: Store; readonly logger: Logger },
): IndexWatch {
  let reason: string | undefined = 'waiting for Postgres';
  let progress: IndexProgress | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function look(): Promise<void> {
    try {
      await checkSchema(store);
      await checkNetwork(store, network);
      progress = await readProgress(store);
      if (reason !== undefined) logger.info({ index: textOf(progress) }, 'the index can be read');
      reason = undefined;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const isAway = error instanceof StoreError && error.retryable;
      if (isAway && reason === undefined) return;
      if (reason !== why) logger.warn({ err: error }, 'the index cannot be read');
      reason = why;
    }
  }

  const follow = async (): Promise<void> => {
    await look();
    if (closed) return;
    timer = setTimeout(() => void follow(), reason === undefined ? calmMs : waitingMs);
    timer.unref();
  };
  void follow();

  return {
    reason: () => reason && `index: ${reason}`,
    text: () => reason ?? textOf(progress),
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

function textOf(progress: IndexProgress | undefined): string {
  if (progress === undefined) return 'nobody has begun it';
  const { headSeqno, missingBlocks } = progress;
  const head = headSeqno === null ? 'no block yet' : `up to ${headSeqno}`;
  return missingBlocks === 0 ? head : `${head}, ${missingBlocks} blocks of the past are missing`;
}
