import { getMethodId } from '@ton/core';

import { parseAddress } from '#service/decode/address.ts';
import { accountKey } from '#service/store/account-key.ts';
import type { Store } from '#service/store/store.ts';
import { addressesOfActions, noExtras, ofRow, viewAction } from '#service/v3/views/action-views.ts';
import { generated, skewed } from './generated-index.ts';
import { readToldTraces, type ToldTrace } from './generated-meaning.ts';
import { link, metadata, metadataColumns, stateColumns, words, type TokenCounts } from './generated-tokens.ts';

// What recorded actions name are mainnet's accounts. In an index nearly all of them took part in a trace: it has their states, and what is a token has a row as such.

/** What accounts are, and get-methods that tell it of their codes; what is none of the tokens is a wallet. An account that is several has the code of the first. */
const methods = {
  master: ['get_jetton_data', 'get_wallet_address'],
  wallet: ['get_wallet_data'],
  collection: ['get_collection_data', 'get_nft_address_by_index', 'get_nft_content'],
  item: ['get_nft_data'],
  other: ['get_public_key', 'get_subwallet_id', 'seqno'],
} as const;

type Kind = keyof typeof methods;

const { lt, utime, hash, accountAt } = generated;

const codeOf = (kind: string): string => hash('action code ', kind);

/** Of a row with `address` and its number `n`. */
const stateOf = (kind: Kind): string => `${lt('n')}, ${codeOf(`'${kind}'`)}, sha256(address)`;

/** States and tokens of all accounts that recorded actions name. What is there already stays. */
export async function generateActionAccounts(
  store: Store,
  { accounts }: TokenCounts,
  tell: (text: string) => void,
): Promise<void> {
  const named = accountsNamed(readToldTraces());
  const kinds = kindsOf(named);
  await store.transaction(async ({ query }) => {
    for (const [kind, names] of Object.entries(methods)) {
      await query(
        `INSERT INTO codes (code_hash, boc, methods) VALUES (${codeOf('$1::text')}, '', $2) ON CONFLICT DO NOTHING`,
        [kind, names.map(getMethodId)],
      );
    }
    await query(
      `INSERT INTO latest_account_states (account, hash, balance, status, utime, last_trans_hash, last_trans_lt, data_hash, code_hash)
       SELECT address, sha256(address), 50000000, 2, ${utime('n')}, sha256(address), ${lt('n')}, sha256(address), ${codeOf('kind')}
       FROM unnest($1::bytea[], $2::text[]) WITH ORDINALITY AS given (address, kind, n) ON CONFLICT DO NOTHING`,
      [keysOf(kinds.keys()), [...kinds.values()]],
    );
    for (const { sql, values } of tokenInserts(named, accounts)) await query(`${sql} ON CONFLICT DO NOTHING`, values);
  });
  const { masters, wallets, collections, items } = named;
  const counts = Object.entries({ masters, wallets, collections, items }).map(([name, of]) => `${of.size} ${name}`);
  tell(`accounts of actions ${kinds.size}, of which ${counts.join(', ')}`);
}

/** What each account is. */
function kindsOf({ all, masters, wallets, collections, items }: NamedAccounts): ReadonlyMap<string, Kind> {
  const kinds = new Map<string, Kind>();
  const keep = (kind: Kind, of: Iterable<string>): void => {
    for (const one of of) if (!kinds.has(one)) kinds.set(one, kind);
  };
  keep('master', masters);
  keep('wallet', wallets.keys());
  keep('collection', collections);
  keep('item', items.keys());
  keep('other', all);
  return kinds;
}

/** Of every second one, as of all tokens. */
const metadataOf = (type: string): string => `INSERT INTO address_metadata (address, type, ${metadataColumns})
  SELECT address, '${type}', ${metadata} FROM unnest($1::bytea[]) WITH ORDINALITY AS given (address, n) WHERE n % 2 = 0`;

type Insert = { readonly sql: string; readonly values: readonly unknown[] };

/** @param accounts generated ones, which own the tokens */
function tokenInserts({ masters, wallets, collections, items }: NamedAccounts, accounts: number): readonly Insert[] {
  const holder = (kind: string): string => accountAt(skewed(kind, 'n', accounts));
  return [
    {
      sql: `INSERT INTO jetton_masters (address, total_supply, mintable, admin, content, wallet_code_hash, ${stateColumns})
        SELECT address, n::numeric * 1000000000, true, ${holder('named admin')}, ${words}, ${codeOf(`'wallet'`)}, ${stateOf('master')}
        FROM unnest($1::bytea[]) WITH ORDINALITY AS given (address, n)`,
      values: [keysOf(masters)],
    },
    {
      sql: `INSERT INTO jetton_wallets (address, balance, owner, jetton, ${stateColumns})
        SELECT address, n::numeric * 1000000000, ${holder('named wallet owner')}, jetton, ${stateOf('wallet')}
        FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS given (address, jetton, n)`,
      values: [keysOf(wallets.keys()), keysOf(wallets.values())],
    },
    {
      sql: `INSERT INTO nft_collections (address, next_item_index, owner, content, ${stateColumns})
        SELECT address, n, ${holder('named collection owner')}, ${link}, ${stateOf('collection')}
        FROM unnest($1::bytea[]) WITH ORDINALITY AS given (address, n)`,
      values: [keysOf(collections)],
    },
    {
      sql: `INSERT INTO nft_items (address, init, index, collection, owner, content, ${stateColumns})
        SELECT address, true, n, collection, ${holder('named item owner')}, ${link}, ${stateOf('item')}
        FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS given (address, collection, n)`,
      values: [keysOf(items.keys()), [...items.values()].map((one) => (one === null ? null : keyOf(one)))],
    },
    { sql: metadataOf('jetton_masters'), values: [keysOf(masters)] },
    { sql: metadataOf('nft_collections'), values: [keysOf(collections)] },
  ];
}

/** Accounts that actions name, by their raw addresses. */
type NamedAccounts = {
  readonly all: ReadonlySet<string>;
  readonly masters: ReadonlySet<string>;
  /** With the jetton of each. */
  readonly wallets: ReadonlyMap<string, string>;
  readonly collections: ReadonlySet<string>;
  /** With the collection of each. */
  readonly items: ReadonlyMap<string, string | null>;
};

/** What tokens are, the recorded traces know: names of fields tell it of some only. */
function accountsNamed(told: readonly ToldTrace[]): NamedAccounts {
  const all = new Set<string>();
  const wallets = new Map<string, string>();
  const items = new Map<string, string | null>();
  for (const { actions, interfaces } of told) {
    const shown = actions.map(ofRow);
    const views = shown.map((one) => viewAction(one, { testOnly: false }, noExtras));
    for (const account of addressesOfActions(shown, views)) {
      all.add(account);
      const [wallet, item] = [interfaces.jettonWallet(account), interfaces.nftItem(account)];
      if (wallet !== undefined) wallets.set(account, wallet.jetton);
      if (item !== undefined) items.set(account, item.collection);
    }
  }
  const collections = new Set([...items.values()].filter((one) => one !== null));
  return { all, masters: new Set(wallets.values()), wallets, collections, items };
}

const keyOf = (raw: string): Buffer => accountKey(parseAddress(raw)!);

function keysOf(raws: Iterable<string>): readonly Buffer[] {
  return [...raws].map(keyOf);
}
