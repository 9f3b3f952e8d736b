import type { Logger } from 'pino';

import { createRetry, pause } from '#service/runtime/retry.ts';
import { CLASSIFIED_CHANNEL, readAnnouncement } from '#service/store/classified-news.ts';
import { StoreError, withStoreErrors } from '#service/store/errors.ts';
import type { Store } from '#service/store/store.ts';

/** Interval of checks that the connection is alive. The source of streams looks for blocks by itself until then. */
const CHECK_MS = 30_000;

/** Silence after which a check has failed. */
const CHECK_TIMEOUT_MS = 5_000;

const sessionSettings = `SET idle_session_timeout = 0; SET statement_timeout = ${CHECK_TIMEOUT_MS}`;

/** News of classified blocks over a connection of its own. */
export type ClassifiedNews = { readonly close: () => Promise<void> };

export type ClassifiedNewsDependencies = {
  readonly store: Pick<Store, 'connect' | 'schema'>;
  /** Called with the blocks of a commit. */
  readonly onClassified: (mcSeqnos: readonly number[]) => void;
  readonly logger: Logger;
  /** 0..1. */
  readonly random: () => number;
  readonly unixMs: () => number;
};

/**
 * Listens on the primary, because a replica has no channels. A lost connection is opened again. News that were sent in between are lost: the
 * caller also looks by itself.
 */
export function listenToClassified(dependencies: ClassifiedNewsDependencies): ClassifiedNews {
  const { store, logger, random, unixMs } = dependencies;
  const closing = new AbortController();
  const { signal } = closing;
  const retry = createRetry<'listen'>({ logger, random, unixMs, onFailure: () => {}, isFinal: () => false });
  const done = retry
    .run('listen', 0, () => listen(store, dependencies.onClassified, signal), signal)
    .catch((error: unknown) => {
      if (!signal.aborted) logger.fatal({ err: error }, 'the news of classified blocks are no longer read');
    });
  return {
    async close() {
      closing.abort(new Error('the news of classified blocks are closed'));
      await done;
    },
  };
}

/** Rejects when the connection ends. */
async function listen(
  store: ClassifiedNewsDependencies['store'],
  onClassified: (mcSeqnos: readonly number[]) => void,
  signal: AbortSignal,
): Promise<never> {
  const client = await store.connect();
  const ended = new AbortController();
  client.once('end', () => ended.abort(new StoreError('store_unavailable', 'the connection of the news has ended')));
  client.on('notification', ({ payload }) => {
    const seqnos = readAnnouncement(payload, store.schema);
    if (seqnos !== undefined) onClassified(seqnos);
  });
  const ends = AbortSignal.any([signal, ended.signal]);
  try {
    await withStoreErrors(client.query(`${sessionSettings}; LISTEN ${CLASSIFIED_CHANNEL}`));
    for (;;) {
      await pause(CHECK_MS, ends);
      await check(client, ends);
    }
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A connection whose other end is gone does not end by itself. */
async function check(client: Awaited<ReturnType<Store['connect']>>, signal: AbortSignal): Promise<void> {
  const late = AbortSignal.any([signal, AbortSignal.timeout(CHECK_TIMEOUT_MS)]);
  const { promise, reject } = Promise.withResolvers<never>();
  const onLate = (): void => reject(late.reason);
  late.addEventListener('abort', onLate, { once: true });
  try {
    await Promise.race([promise, withStoreErrors(client.query('SELECT 1'))]);
  } finally {
    late.removeEventListener('abort', onLate);
  }
}
