import { mapPaced } from '../contract/paced.ts';
import { formatRawAddress, parseAddress, type ParsedAddress } from '../decode/address.ts';
import { accountKey } from '../store/account-key.ts';
import { hashKey } from '../store/hash-key.ts';
import { changesMax, readAccountNames, type AccountNameRow } from '../store/queries/accounts.ts';
import type { StoreReader } from '../store/queries/reader.ts';
import { createAccountMemory, type MemoryView } from './account-memory.ts';
import { fitsFriendly, viewAddressBookRow } from './address-book-row.ts';
import { createCodeInterfaces } from './code-interfaces.ts';
import type { KeptMetrics } from './metrics.ts';
import { viewAccountKey } from './scalars.ts';

/** What answers tell of accounts beside their state. */
export type KnownAccounts = {
  /**
   * As the index has them at a moment of the call; where there are many, at several.
   * @param texts addresses as callers or answers spell them; null and what is named twice do not matter
   * @returns by text, in their order; undefined for what is no address, or one of a workchain that friendly addresses have no room for
   */
  find(texts: Iterable<string | null>, store: StoreReader): Promise<FoundAccounts>;
};

export type FoundAccounts = ReadonlyMap<string, AccountNote | undefined>;

export type AccountNote = {
  /** Its row in address books, as JSON. */
  readonly row: string;
  /** Whether it is or was a token or a wallet of one. */
  readonly isToken: boolean;
};

export type KnownAccountsOptions = {
  /** Friendly addresses are those of a test network. */
  readonly testOnly: boolean;
};

export type KnownAccountsDependencies = {
  /** Milliseconds, ascending. */
  readonly clock: () => number;
  readonly metrics: KeptMetrics;
};

/** Accounts looked up at once: a millisecond or two of work, between which other requests run. */
const ACCOUNTS_AT_ONCE = 500;

/** Connections that look up accounts of one answer. */
const LINES = 2;

/** Some 90,000 accounts. */
const KEPT_BYTES_MAX = 32 * 1024 * 1024;

/** Of one account beside its texts: an entry of a map, and an object with its strings. */
const ENTRY_BYTES = 150;

/** The index knows for half an hour what changed. Where it was replaced by another meanwhile, nothing old is told for longer than this. */
const KEPT_MS_MAX = 10 * 60_000;

/**
 * Most are kept in memory. The index is asked in each call nonetheless, by one query for those that are not and for what changed: what is kept is told only as far as
 * it would be read again.
 */
export function createKnownAccounts(
  options: KnownAccountsOptions,
  { clock, metrics }: KnownAccountsDependencies,
): KnownAccounts {
  const codes = createCodeInterfaces();
  const memory = createAccountMemory<AccountNote>(
    {
      bytesMax: KEPT_BYTES_MAX,
      weigh: (raw, { row }) => raw.length + row.length + ENTRY_BYTES,
      keptMsMax: KEPT_MS_MAX,
    },
    { clock },
  );
  metrics.holds('accounts', memory.bytes);

  /** Accounts that are not kept, and what of the view is old. */
  async function readPart(part: readonly Place[], view: MemoryView<AccountNote>, store: StoreReader) {
    const addresses = part.map(({ raw }) => parseAddress(raw)!);
    const { rows, settled, changed } = await readAccountNames(store, addresses.map(accountKey), view.since);
    const reading = {
      settled,
      changed: changed.length > changesMax ? undefined : new Set(changed.map(viewAccountKey)),
    };
    const isOld = view.learn(reading);
    const described = await describe(addresses, rows, store);
    const notes = described.map(({ note, isSettled }, at) => {
      const { raw } = part[at]!;
      if (isSettled) view.keep(reading, raw, note);
      return [raw, note] as const;
    });
    return { isOld, notes };
  }

  async function describe(addresses: readonly ParsedAddress[], rows: readonly AccountNameRow[], store: StoreReader) {
    const hashes = rows.flatMap(({ code_hash: hash }) => hash ?? []);
    const known = await codes.of(hashes, store);
    return addresses.map((address, at) => {
      const { code_hash: codeHash, domain, is_token: isToken, is_indexed: isIndexed } = rows[at]!;
      const code = codeHash === null ? undefined : known.get(hashKey(codeHash))!;
      const row = viewAddressBookRow(address, { codeHash, domain, interfaces: code?.interfaces ?? [] }, options);
      // An account may get its first state, and a code its methods, without a word of it.
      const isSettled = isIndexed && code?.isKnown !== false;
      return { note: { row: JSON.stringify(row), isToken }, isSettled };
    });
  }

  /** At least one query, for what is old. */
  async function readAll(asked: readonly Place[], view: MemoryView<AccountNote>, store: StoreReader) {
    const parts = Array.from({ length: Math.max(1, Math.ceil(asked.length / ACCOUNTS_AT_ONCE)) }, (_, at) =>
      asked.slice(at * ACCOUNTS_AT_ONCE, (at + 1) * ACCOUNTS_AT_ONCE),
    );
    const read: Awaited<ReturnType<typeof readPart>>[] = [];
    for (let at = 0; at < parts.length; at += LINES) {
      read.push(...(await Promise.all(parts.slice(at, at + LINES).map((part) => readPart(part, view, store)))));
    }
    return {
      isOld: (raw: string) => read.some(({ isOld }) => isOld(raw)),
      notes: new Map(read.flatMap(({ notes }) => notes)),
    };
  }

  return {
    async find(texts, store) {
      const view = memory.open();
      const distinct = [...new Set(texts)].filter((text) => text !== null);
      const places = await mapPaced(distinct, (text) => placeOf(text, view));
      const named = new Map(places.flatMap(({ place }) => (place === undefined ? [] : [[place.raw, place]])));
      const missing = [...named.values()].filter(({ note }) => note === undefined);
      const { isOld, notes } = named.size === 0 ? nothing : await readAll(missing, view, store);
      const old = [...named.values()].filter(({ raw, note }) => note !== undefined && isOld(raw));
      metrics.counted('accounts', 'kept', named.size - missing.length - old.length);
      metrics.counted('accounts', 'made', missing.length + old.length);
      const again = old.length === 0 ? nothing : await readAll(old, memory.open(), store);
      const noteOf = ({ raw, note }: Place): AccountNote => again.notes.get(raw) ?? notes.get(raw) ?? note!;
      return new Map(places.map(({ text, place }) => [text, place && noteOf(place)]));
    },
  };
}

/** An account, and what is kept of it. */
type Place = { readonly raw: string; readonly note: AccountNote | undefined };

const nothing = { isOld: () => false, notes: new Map<string, AccountNote>() };

/** @returns without a place for what is none */
function placeOf(text: string, view: MemoryView<AccountNote>): { readonly text: string; readonly place?: Place } {
  const note = view.get(text);
  if (note !== undefined) return { text, place: { raw: text, note } };
  const address = parseAddress(text, { anyTag: true });
  if (address === undefined || !fitsFriendly(address)) return { text };
  const raw = formatRawAddress(address, 'upper');
  return { text, place: { raw, note: view.get(raw) } };
}
