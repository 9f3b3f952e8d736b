import { createPacer } from '../contract/paced.ts';
import { parseAddress } from '../decode/address.ts';
import { accountKey } from '../store/account-key.ts';
import { changesMax } from '../store/queries/account-changes.ts';
import { readTokens, type TokenRow, type WalletRow } from '../store/queries/metadata.ts';
import type { StoreReader } from '../store/queries/reader.ts';
import type { TokenName } from '../store/token-content.ts';
import { createAccountMemory, type MemoryView } from './account-memory.ts';
import type { KeptMetrics } from './metrics.ts';
import { viewAccountKey } from './scalars.ts';
import { describeToken, describeWallet, fetchedInSeconds, type WalletParties } from './token-info.ts';

/** What answers tell of tokens. */
export type KnownTokens = {
  /**
   * As the index has them at a moment of the call; where there are many, at several.
   * @param raws raw addresses of accounts that are or were tokens or wallets of them
   * @returns in their order, with the masters of the wallets behind; without those that are no tokens
   */
  find(raws: Iterable<string>, store: StoreReader): Promise<ReadonlyMap<string, DescribedAccount>>;
};

/** All that an account is. */
export type DescribedAccount = {
  /** Whether nothing else will be known of it. */
  readonly isIndexed: boolean;
  /** `TokenInfo` as JSON, with commas in between. */
  readonly infos: string;
};

export type KnownTokensDependencies = {
  /** Milliseconds, ascending. */
  readonly clock: () => number;
  readonly metrics: KeptMetrics;
  /** Is told which tokens' words are outside of the chain and not here, or old; absent where nobody fetches them. Never throws, never waits. */
  readonly wanted?: ((tokens: readonly TokenName[]) => void) | undefined;
};

/** Accounts looked up at once: some milliseconds of work, between which other requests run. */
const ACCOUNTS_AT_ONCE = 1000;

/** By weight some 15,000 tokens with words of 300 letters, or 35,000 jetton wallets. */
const KEPT_BYTES_MAX = 16 * 1024 * 1024;

/** Of one account beside its words: an entry of a map, two objects with their strings. */
const ENTRY_BYTES = 400;

/** As of accounts: the index knows for half an hour what changed. */
const KEPT_MS_MAX = 10 * 60_000;

/** What is kept of an account: all but a balance. Nothing of one that is no token, as masters may be that wallets name. */
type TokenNote = DescribedAccount & {
  readonly wallet: WalletParties | undefined;
  /** What is to be fetched, and from when on. */
  readonly toFetch: readonly { readonly token: TokenName; readonly fromMs: number }[];
};

/**
 * Most are kept in memory. The index is asked in each call nonetheless, by one query for those that are not, for balances, which change with each transfer, and for
 * what else changed: what is kept is told only as far as it would be read again.
 */
export function createKnownTokens({ clock, metrics, wanted }: KnownTokensDependencies): KnownTokens {
  const memory = createAccountMemory<TokenNote>(
    {
      bytesMax: KEPT_BYTES_MAX,
      weigh: (raw, { infos }) => raw.length + 2 * infos.length + ENTRY_BYTES,
      keptMsMax: KEPT_MS_MAX,
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
      const isSurveyable = rows.changed.length <= changesMax;
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

  /** What is to be fetched now of accounts that an answer tells of. */
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
      const pacer = createPacer(store.signal);
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
        await pacer.pause();
        const wallet = look(raw)?.wallet;
        if (wallet === undefined) continue;
        wallets.push(raw);
        look(wallet.jetton);
      }
      const first = await read([...missing], wallets, view, store);
      const isOld = (raw: string): boolean => !first.isSurveyable || first.changed.has(raw);
      const isGone = (raw: string): boolean => !first.balances.has(raw);
      const old = new Set([...[...notes.keys()].filter(isOld), ...wallets.filter(isGone)]);
      metrics.counted('tokens', 'kept', notes.size - old.size);
      const { balances } = first;
      for (const [raw, note] of first.notes) notes.set(raw, note);
      const masters = (): string[] => asked.flatMap((raw) => notes.get(raw)?.wallet?.jetton ?? []);
      let made = missing.size;
      // What is old, and masters of wallets that were read just now.
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
        await pacer.pause();
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

type View = MemoryView<TokenNote>;

/** What was read of accounts, by their raw forms, and which others changed; not surveyable: any may have. */
type Read = {
  readonly notes: Map<string, TokenNote>;
  readonly balances: Map<string, bigint>;
  readonly changed: Set<string>;
  isSurveyable: boolean;
};

const isWallet = (row: TokenRow | WalletRow): row is WalletRow => row.type === 'jetton_wallets';

const keyOf = (raw: string): Buffer => accountKey(parseAddress(raw)!);

/** @param rows all of one account */
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
