import type { Logger } from 'pino';

import { createBoundedCache } from '#service/runtime/bounded-cache.ts';
import { StoreError } from '#service/store/errors.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { AnswerAnnotations } from '#service/v3/annotations/answer-annotations.ts';
import { TIMEOUT_MS_MAX } from '#service/v3/request/settings.ts';
import type { AccountKey, Change, Labels } from '../changes.ts';

export type LabelsDependencies = {
  readonly notes: Pick<AnswerAnnotations, 'notesOf'>;
  readonly reader: StoreReader;
  /** Milliseconds, ascending. */
  readonly clock: () => number;
  readonly logger: Logger;
};

/** Milliseconds for which a label counts: many connections get the same event. */
const CACHED_MS = 30_000;

/** Milliseconds for which a change counts: as long as labels of an earlier read, which has at most 3 s. */
const CHANGED_MS = CACHED_MS + 10_000;

const CACHED_BYTES_MAX = 16 * 1024 * 1024;

type LabelKind = 'address_book' | 'metadata';

type Cached = { readonly label: object; readonly reading: number; readonly atMs: number };

/** A read, with its number. */
type Running = { readonly label: Promise<object>; readonly reading: number };

/** Labels of the newest states that the index has. */
export type FreshLabels = Labels & {
  /** Takes the changes of a final block, before its events: labels that were read earlier do not count for its accounts any more. */
  readonly note: (changes: readonly Change[]) => void;
};

/** Labels by the annotations of v3. A label that the index cannot give is empty: an event does not wait for a failed read. */
export function createLabels({ notes, reader, clock, logger }: LabelsDependencies): FreshLabels {
  const cache = createBoundedCache({ bytesMax: CACHED_BYTES_MAX });
  /** Bounded by the events that are made at one time. */
  const running = new Map<string, Running>();
  /** Last reads before the newest change of each account, the oldest change first. Older changes than a cached label are dropped. */
  const changed = new Map<AccountKey, { readonly reading: number; readonly atMs: number }>();
  let readings = 0;

  /** Reports whether a read began after the newest change of each account. */
  const isFresh = (reading: number, accounts: readonly AccountKey[]): boolean =>
    accounts.every((account) => reading > (changed.get(account)?.reading ?? 0));

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

  function begin(key: string, label: Promise<object>): Running {
    const one = { label, reading: ++readings };
    running.set(key, one);
    const forget = (): void => {
      if (running.get(key) === one) running.delete(key);
    };
    label.then(forget, forget);
    return one;
  }

  async function read(kind: LabelKind, accounts: readonly AccountKey[], signal: AbortSignal): Promise<object> {
    signal.throwIfAborted();
    const key = `${kind} ${accounts.join()}`;
    const known = cache.get(key) as Cached | undefined;
    if (known !== undefined && clock() - known.atMs < CACHED_MS && isFresh(known.reading, accounts)) return known.label;
    try {
      const shared = running.get(key);
      const { label: reads, reading } =
        shared !== undefined && isFresh(shared.reading, accounts) ? shared : begin(key, make(kind, accounts));
      const label = await reads;
      const weight = key.length + JSON.stringify(label).length;
      cache.set(key, { label, reading, atMs: clock() } satisfies Cached, weight);
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
    note(changes) {
      const atMs = clock();
      for (const change of changes) {
        if (change.kind !== 'state') continue;
        changed.delete(change.account);
        changed.set(change.account, { reading: readings, atMs });
      }
      for (const [account, { atMs: changedMs }] of changed) {
        if (atMs - changedMs < CHANGED_MS) break;
        changed.delete(account);
      }
    },
  };
}
