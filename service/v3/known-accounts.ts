import { createPacer } from '../contract/paced.ts';
import { formatRawAddress, parseAddress, type ParsedAddress } from '../decode/address.ts';
import { accountKey } from '../store/account-key.ts';
import { hashKey } from '../store/hash-key.ts';
import { changesMax } from '../store/queries/account-changes.ts';
import { readAccountNames, type AccountNameRow } from '../store/queries/accounts.ts';
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
   * @param onKept is told, before anything is read, the raw addresses of those of whom it is kept that they are tokens, in their order; nothing stops being one
   * @returns by text, in their order; undefined for what is no address, or one of a workchain that friendly addresses have no room for
   */
  find(
    texts: Iterable<string | null>,
    store: StoreReader,
    onKept?: (tokens: readonly string[]) => void,
  ): Promise<FoundAccounts>;
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

  /** Reads accounts; what changed is told by itself. */
  async function readPart(part: readonly string[], view: MemoryView<AccountNote>, store: StoreReader, into: Read) {
    const addresses = part.map((raw) => parseAddress(raw)!);
    const { rows, settled, changed } = await readAccountNames(store, addresses.map(accountKey), view.since);
    const isSurveyable = changed.length <= changesMax;
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
      // An account may get its first state, and a code its methods, without a word of it.
      const isSettled = isIndexed && code?.isKnown !== false;
      return { note: { row: JSON.stringify(row), isToken }, isSettled };
    });
  }

  /** By one query at least, for what changed. */
  async function readAll(raws: readonly string[], view: MemoryView<AccountNote>, store: StoreReader): Promise<Read> {
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
      const pacer = createPacer(store.signal);
      const found = new Map<string, AccountNote | undefined>();
      const named: Place[] = [];
      const [kept, missing] = [new Set<string>(), new Set<string>()];
      for (const text of texts) {
        await pacer.pause();
        if (text === null || found.has(text)) continue;
        const place = placeOf(text, view);
        found.set(text, place?.note);
        if (place === undefined) continue;
        named.push(place);
        (place.note === undefined ? missing : kept).add(place.raw);
      }
      onKept?.(named.flatMap(({ raw, note }) => (note?.isToken === true ? [raw] : [])));
      const read = named.length === 0 ? nothingRead() : await readAll([...missing], view, store);
      const old = read.isSurveyable ? [...read.changed].filter((raw) => kept.has(raw)) : [...kept];
      metrics.counted('accounts', 'kept', kept.size - old.length);
      metrics.counted('accounts', 'made', missing.size + old.length);
      const again = old.length === 0 ? nothingRead() : await readAll(old, memory.open(), store);
      if (missing.size + old.length === 0) return found;
      for (const { text, raw, note } of named) {
        await pacer.pause();
        found.set(text, again.notes.get(raw) ?? read.notes.get(raw) ?? note);
      }
      return found;
    },
  };
}

/** What was read of accounts, by their raw forms, and which others changed; not surveyable: any may have. */
type Read = { readonly notes: Map<string, AccountNote>; readonly changed: Set<string>; isSurveyable: boolean };

const nothingRead = (): Read => ({ notes: new Map(), changed: new Set(), isSurveyable: true });

/** An account as it is spelled, its raw form, by which it is kept, and what is. */
type Place = { readonly text: string; readonly raw: string; readonly note: AccountNote | undefined };

/** @returns undefined for what is none */
function placeOf(text: string, view: MemoryView<AccountNote>): Place | undefined {
  const note = view.get(text);
  if (note !== undefined) return { text, raw: text, note };
  const address = parseAddress(text, { anyTag: true });
  if (address === undefined || !fitsFriendly(address)) return undefined;
  const raw = formatRawAddress(address, 'upper');
  return { text, raw, note: view.get(raw) };
}
