import { createTimeSlice } from '#service/runtime/time-slice.ts';
import { parseAddress } from '#service/decode/address.ts';
import { accountKey } from '#service/store/account-key.ts';
import { CHANGES_MAX } from '#service/store/queries/account-changes.ts';
import { readTokens, type TokenRow, type WalletRow } from '#service/store/queries/metadata.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { TokenName } from '#service/store/token-content.ts';
import { cacheBytesOf } from '../cache-bytes.ts';
import { createChangeTrackedCache, type CacheView } from './change-tracked-cache.ts';
import type { CacheMetrics } from '../metrics.ts';
import { viewAccountKey } from '../request/scalars.ts';
import { describeToken, describeWallet, fetchedInSeconds, type WalletParties } from '../views/token-info.ts';

/** Metadata of tokens in answers. */
export type TokenInfoCache = {
  /**
   * Tokens at a moment of the call; for many tokens at several moments.
   * @param raws raw addresses of accounts that are or were tokens or their wallets
   * @returns tokens in input order, followed by the masters of the wallets; accounts that are no tokens are omitted
   */
  find(raws: Iterable<string>, store: StoreReader): Promise<ReadonlyMap<string, DescribedAccount>>;
};

/** All tokens of an account. */
export type DescribedAccount = {
  /** True if the data is final. */
  readonly isIndexed: boolean;
  /** `TokenInfo` as JSON, with commas in between. */
  readonly infos: string;
};

export type TokenInfoCacheOptions = {
  /** Default: those of a pod. */
  readonly bytesMax?: number;
};

export type TokenInfoCacheDependencies = {
  /** Milliseconds, ascending. */
  readonly clock: () => number;
  readonly metrics: CacheMetrics;
  /** Called with tokens whose metadata outside of the chain is missing or stale; absent without a fetcher. Never throws, never waits. */
  readonly wanted?: ((tokens: readonly TokenName[]) => void) | undefined;
};

/** Accounts per query: some milliseconds of work, with other requests in between. */
const ACCOUNTS_AT_ONCE = 1000;

/** Bytes of an account besides its metadata: an entry of a map, two objects with their strings. */
const ENTRY_BYTES = 400;

/** Same limit as for accounts: the change log of the index covers 30 minutes. */
const KEPT_MS_MAX = 10 * 60_000;

/** Cached data of an account, without balances. Empty for an account that is no token, such as a master that wallets name. */
type TokenNote = DescribedAccount & {
  readonly wallet: WalletParties | undefined;
  /** Tokens to be fetched, each from a time on. */
  readonly toFetch: readonly { readonly token: TokenName; readonly fromMs: number }[];
};

/**
 * Most tokens are cached. Each call still queries the index once: for missing tokens, for balances, and for other changes. Balances change
 * with each transfer. A cached entry is returned only if a new read returns the same.
 */
export function createTokenInfoCache(
  { bytesMax = cacheBytesOf().tokens }: TokenInfoCacheOptions,
  { clock, metrics, wanted }: TokenInfoCacheDependencies,
): TokenInfoCache {
  const memory = createChangeTrackedCache<TokenNote>(
    {
      bytesMax,
      weigh: (raw, { infos }) => raw.length + 2 * infos.length + ENTRY_BYTES,
      cachedMsMax: KEPT_MS_MAX,
    },
    { clock },
  );
  metrics.holds('tokens', memory.bytes);

  async function read(missing: readonly string[], wallets: readonly string[], view: View, store: StoreReader) {
    const all: Read = { notes: new Map(), balances: new Map(), changed: new Set(), isSurveyable: true };
    for (let at = 0; at === 0 || at < Math.max(missing.length, wallets.length); at += ACCOUNTS_AT_ONCE) {
      const part = missing.slice(at, at + ACCOUNTS_AT_ONCE);
      const [accounts, balances] = [part, wallets.slice(at, at + ACCOUNTS_AT_ONCE)].map((raws) => raws.map(keyOf));
      const { settled, ...rows } = await readTokens(store, {
        accounts: accounts!,
        balances: balances!,
        since: view.since,
      });
      const isSurveyable = rows.changed.length <= CHANGES_MAX;
      const changed = new Set(rows.changed.map(viewAccountKey));
      const reading = { settled, changed: isSurveyable ? changed : undefined };
      view.learn(reading);
      for (const raw of changed) all.changed.add(raw);
      all.isSurveyable &&= isSurveyable;
      const nowMs = clock();
      const found = Map.groupBy(rows.tokens, ({ address }) => viewAccountKey(address));
      for (const raw of part) {
        const note = noteOf(found.get(raw) ?? [], nowMs);
        view.keep(reading, raw, note);
        all.notes.set(raw, note);
      }
      for (const { address, balance } of [...rows.tokens.filter(isWallet), ...rows.balances]) {
        all.balances.set(viewAccountKey(address), balance);
      }
    }
    return all;
  }

  /** Requests due fetches for the accounts of an answer. */
  function want(notes: Iterable<TokenNote>): void {
    if (wanted === undefined) return;
    const nowMs = clock();
    const tokens = [...notes].flatMap(({ toFetch }) => toFetch.filter(({ fromMs }) => fromMs <= nowMs));
    if (tokens.length > 0) wanted(tokens.map(({ token }) => token));
  }

  return {
    async find(raws, store) {
      const asked = [...new Set(raws)];
      if (asked.length === 0) return new Map();
      const timeSlice = createTimeSlice(store.signal);
      const view = memory.open();
      const [notes, wallets] = [new Map<string, TokenNote>(), [] as string[]];
      const missing = new Set<string>();
      const look = (raw: string): TokenNote | undefined => {
        const note = view.get(raw);
        if (note === undefined) missing.add(raw);
        else notes.set(raw, note);
        return note;
      };
      for (const raw of asked) {
        await timeSlice.pause();
        const wallet = look(raw)?.wallet;
        if (wallet === undefined) continue;
        wallets.push(raw);
        look(wallet.jetton);
      }
      const first = await read([...missing], wallets, view, store);
      const isOld = (raw: string): boolean => !first.isSurveyable || first.changed.has(raw);
      const isGone = (raw: string): boolean => !first.balances.has(raw);
      const old = new Set([...[...notes.keys()].filter(isOld), ...wallets.filter(isGone)]);
      metrics.counted('tokens', 'cached', notes.size - old.size);
      const { balances } = first;
      for (const [raw, note] of first.notes) notes.set(raw, note);
      const masters = (): string[] => asked.flatMap((raw) => notes.get(raw)?.wallet?.jetton ?? []);
      let made = missing.size;
      // Stale accounts, and masters of wallets that were just read.
      let rest = new Set([...old, ...masters().filter((raw) => !notes.has(raw))]);
      while (rest.size > 0) {
        made += rest.size;
        const more = await read([...rest], [], memory.open(), store);
        for (const [raw, note] of more.notes) notes.set(raw, note);
        for (const [raw, balance] of more.balances) balances.set(raw, balance);
        rest = new Set(masters().filter((raw) => !notes.has(raw)));
      }
      metrics.counted('tokens', 'made', made);
      const found = new Map<string, DescribedAccount>();
      for (const raw of asked) {
        await timeSlice.pause();
        const { wallet, infos, isIndexed } = notes.get(raw)!;
        const ofWallet = wallet === undefined ? '' : JSON.stringify(describeWallet(wallet, balances.get(raw)!));
        found.set(raw, { isIndexed, infos: infos + (infos !== '' && ofWallet !== '' ? ',' : '') + ofWallet });
      }
      for (const raw of masters()) {
        if (found.has(raw)) continue;
        const { isIndexed, infos } = notes.get(raw)!;
        found.set(raw, { isIndexed, infos });
      }
      want([...found.keys()].map((raw) => notes.get(raw)!));
      for (const [raw, { infos }] of found) if (infos === '') found.delete(raw);
      return found;
    },
  };
}

type View = CacheView<TokenNote>;

/** Accounts of a read by raw form, and changed accounts; when not surveyable, any account may have changed. */
type Read = {
  readonly notes: Map<string, TokenNote>;
  readonly balances: Map<string, bigint>;
  readonly changed: Set<string>;
  isSurveyable: boolean;
};

const isWallet = (row: TokenRow | WalletRow): row is WalletRow => row.type === 'jetton_wallets';

const keyOf = (raw: string): Buffer => accountKey(parseAddress(raw)!);

/** @param rows all rows of an account */
function noteOf(rows: readonly (TokenRow | WalletRow)[], nowMs: number): TokenNote {
  const tokens = rows.filter((row) => !isWallet(row));
  const described = tokens.map(describeToken);
  const wallet = rows.find(isWallet);
  return {
    isIndexed: described.every(({ isIndexed }) => isIndexed),
    infos: described.map(({ info }) => JSON.stringify(info)).join(','),
    wallet: wallet && { owner: viewAccountKey(wallet.owner), jetton: viewAccountKey(wallet.jetton) },
    toFetch: tokens.flatMap((row) => {
      const seconds = fetchedInSeconds(row);
      const token = { address: row.address, type: row.type };
      return seconds === undefined ? [] : [{ token, fromMs: nowMs + 1000 * seconds }];
    }),
  };
}
