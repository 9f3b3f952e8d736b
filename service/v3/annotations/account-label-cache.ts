import { createTimeSlice } from '#service/runtime/time-slice.ts';
import { fitsFriendly, formatRawAddress, parseAddress, type ParsedAddress } from '#service/decode/address.ts';
import { accountKey } from '#service/store/account-key.ts';
import { hashKey } from '#service/store/hash-key.ts';
import { CHANGES_MAX } from '#service/store/queries/account-changes.ts';
import { readAccountNames, type AccountNameRow } from '#service/store/queries/accounts.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { cacheBytesOf, type CacheBytes } from '../cache-bytes.ts';
import { createChangeTrackedCache, type CacheView } from './change-tracked-cache.ts';
import { viewAddressBookRow } from '../views/address-book-row.ts';
import { createCodeInterfaces } from './code-interfaces.ts';
import type { CacheMetrics } from '../metrics.ts';
import { viewAccountKey } from '../request/scalars.ts';

/** Data of accounts in answers, besides their state. */
export type AccountLabelCache = {
  /**
   * Accounts at a moment of the call; for many accounts at several moments.
   * @param texts addresses in any spelling; null and duplicates are ignored
   * @param onKept called before any query, with raw addresses already cached as tokens, in input order. An account never stops being a
   * token
   * @returns accounts by text, in input order. Undefined for a text that is no address, or whose workchain does not fit into friendly
   * addresses
   */
  find(
    texts: Iterable<string | null>,
    store: StoreReader,
    onKept?: (tokens: readonly string[]) => void,
  ): Promise<FoundAccounts>;
};

export type FoundAccounts = ReadonlyMap<string, AccountLabel | undefined>;

export type AccountLabel = {
  /** Its row in address books, as JSON. */
  readonly row: string;
  /** True if the account is or was a token or a wallet of a token. */
  readonly isToken: boolean;
};

export type AccountLabelCacheOptions = {
  /** True for friendly addresses of a test network. */
  readonly testOnly: boolean;
  /** Default: those of a pod. */
  readonly cacheBytes?: CacheBytes;
};

export type AccountLabelCacheDependencies = {
  /** Milliseconds, ascending. */
  readonly clock: () => number;
  readonly metrics: CacheMetrics;
};

/** Accounts per query: a millisecond or two of work, with other requests in between. */
const ACCOUNTS_AT_ONCE = 500;

/** Connections that look up accounts of an answer. */
const LINES = 2;

/** Bytes of an account besides its texts: an entry of a map, and an object with its strings. */
const ENTRY_BYTES = 150;

/**
 * Lifetime of entries. The change log of the index covers half an hour. After a replacement of the index, stale entries are served no
 * longer than this.
 */
const KEPT_MS_MAX = 10 * 60_000;

/**
 * Most accounts are cached. Each call still queries the index once, for missing accounts and for changes. A cached entry is returned only
 * if a new read returns the same.
 */
export function createAccountLabelCache(
  { cacheBytes = cacheBytesOf(), ...options }: AccountLabelCacheOptions,
  { clock, metrics }: AccountLabelCacheDependencies,
): AccountLabelCache {
  const codes = createCodeInterfaces({ bytesMax: cacheBytes.codes });
  const memory = createChangeTrackedCache<AccountLabel>(
    {
      bytesMax: cacheBytes.accounts,
      weigh: (raw, { row }) => raw.length + row.length + ENTRY_BYTES,
      cachedMsMax: KEPT_MS_MAX,
    },
    { clock },
  );
  metrics.holds('accounts', memory.bytes);

  /** Reads accounts; changed accounts are in the result. */
  async function readPart(part: readonly string[], view: CacheView<AccountLabel>, store: StoreReader, into: Read) {
    const addresses = part.map((raw) => parseAddress(raw)!);
    const { rows, settled, changed } = await readAccountNames(store, addresses.map(accountKey), view.since);
    const isSurveyable = changed.length <= CHANGES_MAX;
    const reading = { settled, changed: isSurveyable ? new Set(changed.map(viewAccountKey)) : undefined };
    view.learn(reading);
    for (const raw of reading.changed ?? []) into.changed.add(raw);
    into.isSurveyable &&= isSurveyable;
    const described = await describe(addresses, rows, store);
    for (const [at, { note, isSettled }] of described.entries()) {
      if (isSettled) view.keep(reading, part[at]!, note);
      into.notes.set(part[at]!, note);
    }
  }

  async function describe(addresses: readonly ParsedAddress[], rows: readonly AccountNameRow[], store: StoreReader) {
    const hashes = rows.flatMap(({ code_hash: hash }) => hash ?? []);
    const known = await codes.of(hashes, store);
    return addresses.map((address, at) => {
      const { code_hash: codeHash, domain, is_token: isToken, is_indexed: isIndexed } = rows[at]!;
      const code = codeHash === null ? undefined : known.get(hashKey(codeHash))!;
      const row = viewAddressBookRow(address, { codeHash, domain, interfaces: code?.interfaces ?? [] }, options);
      // The change log does not report an account's first state, or new methods of a code.
      const isSettled = isIndexed && code?.isKnown !== false;
      return { note: { row: JSON.stringify(row), isToken }, isSettled };
    });
  }

  /** Runs at least one query, for changes. */
  async function readAll(raws: readonly string[], view: CacheView<AccountLabel>, store: StoreReader): Promise<Read> {
    const parts = Array.from({ length: Math.max(1, Math.ceil(raws.length / ACCOUNTS_AT_ONCE)) }, (_, at) =>
      raws.slice(at * ACCOUNTS_AT_ONCE, (at + 1) * ACCOUNTS_AT_ONCE),
    );
    const read = nothingRead();
    for (let at = 0; at < parts.length; at += LINES) {
      await Promise.all(parts.slice(at, at + LINES).map((part) => readPart(part, view, store, read)));
    }
    return read;
  }

  return {
    async find(texts, store, onKept) {
      const view = memory.open();
      const timeSlice = createTimeSlice(store.signal);
      const found = new Map<string, AccountLabel | undefined>();
      const named: Place[] = [];
      const [cached, missing] = [new Set<string>(), new Set<string>()];
      for (const text of texts) {
        await timeSlice.pause();
        if (text === null || found.has(text)) continue;
        const place = placeOf(text, view);
        found.set(text, place?.note);
        if (place === undefined) continue;
        named.push(place);
        (place.note === undefined ? missing : cached).add(place.raw);
      }
      onKept?.(named.flatMap(({ raw, note }) => (note?.isToken === true ? [raw] : [])));
      const read = named.length === 0 ? nothingRead() : await readAll([...missing], view, store);
      const old = read.isSurveyable ? [...read.changed].filter((raw) => cached.has(raw)) : [...cached];
      metrics.counted('accounts', 'cached', cached.size - old.length);
      metrics.counted('accounts', 'made', missing.size + old.length);
      const again = old.length === 0 ? nothingRead() : await readAll(old, memory.open(), store);
      if (missing.size + old.length === 0) return found;
      for (const { text, raw, note } of named) {
        await timeSlice.pause();
        found.set(text, again.notes.get(raw) ?? read.notes.get(raw) ?? note);
      }
      return found;
    },
  };
}

/** Accounts of a read by raw form, and changed accounts; when not surveyable, any account may have changed. */
type Read = { readonly notes: Map<string, AccountLabel>; readonly changed: Set<string>; isSurveyable: boolean };

const nothingRead = (): Read => ({ notes: new Map(), changed: new Set(), isSurveyable: true });

/** Spelling of an account, its raw form (the cache key), and its cached data. */
type Place = { readonly text: string; readonly raw: string; readonly note: AccountLabel | undefined };

/** @returns undefined for a text that is no address */
function placeOf(text: string, view: CacheView<AccountLabel>): Place | undefined {
  const note = view.get(text);
  if (note !== undefined) return { text, raw: text, note };
  const address = parseAddress(text, { anyTag: true });
  if (address === undefined || !fitsFriendly(address)) return undefined;
  const raw = formatRawAddress(address, 'upper');
  return { text, raw, note: view.get(raw) };
}
