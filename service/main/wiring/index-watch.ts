import type { Logger } from 'pino';

import { isUnfit, StoreError } from '#service/store/errors.ts';
import { checkNetwork, readProgress, type IndexProgress, type NetworkHashes } from '#service/store/indexer-state.ts';
import { checkSchema } from '#service/store/migrate.ts';
import type { Store } from '#service/store/store.ts';

/** Checks the index's tables at intervals. They may be older or newer than this release needs, or of another network. */
export type IndexWatch = {
  /**
   * Reason why the tables do not fit, or that the first check is running; undefined otherwise. No other state of Postgres is a reason.
   * While Postgres is unavailable, locked, full or read-only, readiness does not change.
   * Tables that are lost after they fitted are no reason either: every pod has lost them, and v2 needs none.
   */
  reason(): string | undefined;
  /** True after a check of tables that fit, until a check of tables that do not. */
  fits(): boolean;
  /** Progress of the index, as a single line. */
  text(): string;
  close(): void;
};

export type IndexWatchOptions = {
  /** Hashes of the served network. */
  readonly network: NetworkHashes;
  /** Milliseconds between checks until tables fit. */
  readonly waitingMs?: number;
  /** Milliseconds between checks of tables that fit. */
  readonly calmMs?: number;
};

/** A migration takes seconds, and callers wait for it. */
const WAITING_DEFAULT_MS = 1000;

/** The next migration comes with the next release. */
const CALM_DEFAULT_MS = 10_000;

export function watchIndex(
  { network, waitingMs = WAITING_DEFAULT_MS, calmMs = CALM_DEFAULT_MS }: IndexWatchOptions,
  { store, logger }: { readonly store: Store; readonly logger: Logger },
): IndexWatch {
  let reason: string | undefined = 'waiting for Postgres';
  let fits = false;
  /** True once a check has found tables that fit. */
  let fitted = false;
  /** Text of the last failed check's error. */
  let trouble: string | undefined;
  let looked = false;
  let progress: IndexProgress | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function look(): Promise<void> {
    try {
      await checkSchema(store);
      await checkNetwork(store, network);
      progress = await readProgress(store);
      if (!fits) logger.info({ index: textOf(progress) }, 'the index can be read');
      [fits, fitted, reason, trouble] = [true, true, undefined, undefined];
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (why !== trouble && (!fits || isUnfit(error))) logger.warn({ err: error }, 'the index cannot be read');
      trouble = why;
      if (isUnfit(error)) [fits, reason] = [false, fitted && isMissing(error) ? undefined : why];
      else if (!looked) reason = undefined;
    }
    looked = true;
  }

  const follow = async (): Promise<void> => {
    await look();
    if (closed) return;
    timer = setTimeout(() => void follow(), fits ? calmMs : waitingMs);
    timer.unref();
  };
  void follow();

  return {
    reason: () => reason && `index: ${reason}`,
    fits: () => fits,
    text: () => reason ?? (fits ? textOf(progress) : (trouble ?? textOf(progress))),
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'schema_missing';
}

function textOf(progress: IndexProgress | undefined): string {
  if (progress === undefined) return 'nobody has begun it';
  const { headSeqno, missingBlocks } = progress;
  const head = headSeqno === null ? 'no block yet' : `up to ${headSeqno}`;
  return missingBlocks === 0 ? head : `${head}, ${missingBlocks} blocks of the past are missing`;
}
