import type { Logger } from 'pino';

import { createBoundedCache } from '#service/runtime/bounded-cache.ts';
import { StoreError } from '#service/store/errors.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { AnswerAnnotations } from '#service/v3/annotations/answer-annotations.ts';
import { TIMEOUT_MS_MAX } from '#service/v3/request/settings.ts';
import type { AccountKey, Labels } from '../changes.ts';

export type LabelsDependencies = {
  readonly notes: Pick<AnswerAnnotations, 'notesOf'>;
  readonly reader: StoreReader;
  /** Milliseconds, ascending. */
  readonly clock: () => number;
  readonly logger: Logger;
};

/** Milliseconds for which a label counts: many connections get the same event. */
const CACHED_MS = 30_000;

const CACHED_BYTES_MAX = 16 * 1024 * 1024;

type LabelKind = 'address_book' | 'metadata';

type Cached = { readonly label: object; readonly atMs: number };

/** Labels by the annotations of v3. A label that the index cannot give is empty: an event does not wait for a failed read. */
export function createLabels({ notes, reader, clock, logger }: LabelsDependencies): Labels {
  const cache = createBoundedCache({ bytesMax: CACHED_BYTES_MAX });
  /** Bounded by the events that are made at one time. */
  const running = new Map<string, Promise<object>>();

  async function make(kind: LabelKind, accounts: readonly AccountKey[]): Promise<object> {
    const settings = {
      timeoutMs: TIMEOUT_MS_MAX,
      addressBook: kind === 'address_book',
      metadata: kind === 'metadata',
      actionsVersion: undefined,
    };
    const { [kind]: label } = await notes.notesOf(accounts, { store: reader, settings });
    return label.toJSON();
  }

  async function read(kind: LabelKind, accounts: readonly AccountKey[], signal: AbortSignal): Promise<object> {
    signal.throwIfAborted();
    const key = `${kind} ${accounts.join()}`;
    const known = cache.get(key) as Cached | undefined;
    if (known !== undefined && clock() - known.atMs < CACHED_MS) return known.label;
    try {
      const shared = running.get(key) ?? make(kind, accounts).finally(() => running.delete(key));
      running.set(key, shared);
      const label = await shared;
      cache.set(key, { label, atMs: clock() } satisfies Cached, key.length + JSON.stringify(label).length);
      return label;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof StoreError)) throw error;
      logger.warn({ err: error, label: kind }, 'an event has no labels, because the index cannot be read');
      return {};
    }
  }

  return {
    addressBook: (accounts, signal) => read('address_book', accounts, signal),
    metadata: (accounts, signal) => read('metadata', accounts, signal),
  };
}
