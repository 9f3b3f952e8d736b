import {
  addressMetadata,
  jettonBurns,
  jettonMasters,
  jettonTransfers,
  jettonWallets,
  nftCollections,
  nftTransfers,
} from '#service/store/classification-tables.ts';
import type { Store } from '#service/store/store.ts';
import { generated, generateRows, skewed, type Filling } from './generated-index.ts';

// Rows of tokens made inside Postgres from their numbers alone, as those of the ledger are: a few jettons have most wallets, a few accounts most of
// what can be owned, most have one thing or two.

export type TokenCounts = {
  readonly transactions: number;
  readonly accounts: number;
  readonly wallets: number;
  readonly items: number;
};

const { lt, utime, hash, block, accountAt } = generated;

const walletsOfMaster = 100;
const itemsOfCollection = 250;
/** Of so many items one is for sale. */
export const itemsOfSale = 20;
/** Of so many transactions one is of this kind. */
const every = { jettonTransfer: 4, jettonBurn: 100, nftTransfer: 25 };

/** Keys of accounts that are tokens. */
export const tokenKeys = {
  master: (n: string): string => keyOf('jetton master', n),
  wallet: (n: string): string => keyOf('jetton wallet', n),
  collection: (n: string): string => keyOf('nft collection', n),
  item: (n: string): string => keyOf('nft item', n),
  sale: (n: string): string => keyOf('nft sale', n),
};

function keyOf(kind: string, n: string): string {
  return `'\\x80'::bytea || ${hash(kind, n)}`;
}

/** How many items are for sale. */
export const salesOf = ({ items }: Pick<TokenCounts, 'items'>): number => Math.ceil(items / itemsOfSale);

/** Numbers of masters and collections. */
export function familiesOf({ wallets, items }: TokenCounts): {
  readonly masters: number;
  readonly collections: number;
} {
  return { masters: Math.ceil(wallets / walletsOfMaster), collections: Math.ceil(items / itemsOfCollection) };
}

export const stateColumns = 'last_trans_lt, code_hash, data_hash';
const state = (kind: string): string => `${lt('n')}, ${hash(`${kind} code`, '0')}, ${hash(`${kind} data`, 'n')}`;

/** What the chain says of the token `n`. */
export const words = `jsonb_build_object('name', 'Token ' || n, 'symbol', 'T' || n, 'decimals', '9', 'description', repeat('word ', 30))`;
/** Where the token `n` says what it is. */
export const link = `jsonb_build_object('uri', 'https://example.com/' || n || '.json')`;

export const metadataColumns = 'valid, name, symbol, description, extra, updated_at, expires_at';
/** What was fetched of the token `n`. */
export const metadata = `true, 'Token ' || n, 'T' || n, repeat('word ', 30), '{"decimals": "9"}', 1700000000, 2000000000`;

/** Values of the columns of a transaction: that of every so many. */
function transaction(factor: number): string {
  const n = `n * ${factor}`;
  return `${hash('t', n)}, ${lt(n)}, ${utime(n)}, n % 20 = 0, ${block(n)}, n`;
}

/** Items and sales keep their indexes while they are filled: by those their triggers look each other up. */
const tables = [
  jettonMasters,
  jettonWallets,
  nftCollections,
  addressMetadata,
  jettonTransfers,
  jettonBurns,
  nftTransfers,
].map(({ name }) => name);

export function generateTokens(store: Store, counts: TokenCounts, tell: (text: string) => void): Promise<void> {
  return generateRows(store, tables, tokenFillings(counts), tell);
}

/** What fills all tables of tokens. */
export function tokenFillings(counts: TokenCounts): readonly Filling[] {
  const drawn = drawFrom(counts);
  return [...contractFillings(counts, drawn), ...transferFillings(counts, drawn)];
}

/** Draws accounts and tokens for the row `n`, by what they are drawn for. */
type Drawn = Readonly<Record<'holder' | 'master' | 'collection', (kind: string) => string>>;

function drawFrom(counts: TokenCounts): Drawn {
  const { masters, collections } = familiesOf(counts);
  return {
    holder: (kind) => accountAt(skewed(kind, 'n', counts.accounts)),
    master: (kind) => tokenKeys.master(skewed(kind, 'n', masters)),
    collection: (kind) => tokenKeys.collection(skewed(kind, 'n', collections)),
  };
}

function contractFillings(counts: TokenCounts, { holder, master, collection }: Drawn): readonly Filling[] {
  const { wallets, items } = counts;
  const { masters, collections } = familiesOf(counts);
  return [
    {
      what: 'jetton masters',
      count: masters,
      statement: (
        numbers,
      ) => `INSERT INTO jetton_masters (address, total_supply, mintable, admin, content, wallet_code_hash, ${stateColumns})
        SELECT ${tokenKeys.master('n')}, n::numeric * 1000000000, true, ${holder('admin')}, ${words}, ${hash('wallet code', '0')}, ${state('master')} FROM ${numbers}`,
    },
    {
      what: 'jetton wallets',
      count: wallets,
      statement: (numbers) => `INSERT INTO jetton_wallets (address, balance, owner, jetton, ${stateColumns})
        SELECT ${tokenKeys.wallet('n')}, CASE WHEN n % 3 = 0 THEN 0 ELSE ${skewed('balance', 'n', 1e15)} END, ${holder('wallet owner')},
          ${master('wallet master')}, ${state('wallet')} FROM ${numbers}`,
    },
    {
      what: 'NFT collections',
      count: collections,
      statement: (numbers) => `INSERT INTO nft_collections (address, next_item_index, owner, content, ${stateColumns})
        SELECT ${tokenKeys.collection('n')}, n, ${holder('collection owner')}, ${link}, ${state('collection')} FROM ${numbers}`,
    },
    {
      what: 'NFT items',
      count: items,
      statement: (numbers) => `INSERT INTO nft_items (address, init, index, collection, owner, content, ${stateColumns})
        SELECT ${tokenKeys.item('n')}, true, n, ${collection('item collection')},
          CASE WHEN n % ${itemsOfSale} = 0 THEN ${tokenKeys.sale('n')} ELSE ${holder('item owner')} END, ${link}, ${state('item')} FROM ${numbers}`,
    },
    {
      what: 'NFT sales',
      count: salesOf(counts),
      statement: (
        numbers,
      ) => `INSERT INTO nft_sales (address, type, nft, nft_owner, marketplace, created_at, details, ${stateColumns})
        SELECT ${tokenKeys.sale(`n * ${itemsOfSale}`)}, 'getgems_sale', ${tokenKeys.item(`n * ${itemsOfSale}`)}, ${holder('seller')},
          ${accountAt('1')}, ${utime('n')}, '{"is_complete": false, "full_price": "1000000000"}', ${state('sale')} FROM ${numbers}`,
    },
    {
      what: 'metadata',
      count: masters + collections,
      statement: (numbers) => `INSERT INTO address_metadata (address, type, ${metadataColumns})
        SELECT CASE WHEN n < ${masters} THEN ${tokenKeys.master('n')} ELSE ${tokenKeys.collection(`n - ${masters}`)} END,
          CASE WHEN n < ${masters} THEN 'jetton_masters' ELSE 'nft_collections' END, ${metadata} FROM ${numbers} WHERE n % 2 = 0`,
    },
  ];
}

const transactionColumns = 'tx_hash, tx_lt, tx_utime, tx_aborted, mc_seqno, query_id';

function transferFillings(counts: TokenCounts, { holder, master, collection }: Drawn): readonly Filling[] {
  const { transactions, wallets, items } = counts;
  return [
    {
      what: 'jetton transfers',
      count: Math.ceil(transactions / every.jettonTransfer),
      statement: (
        numbers,
      ) => `INSERT INTO jetton_transfers (${transactionColumns}, source, destination, jetton_wallet, jetton_master, amount, forward_ton_amount)
        SELECT ${transaction(every.jettonTransfer)}, ${holder('sender')}, ${holder('receiver')},
          ${tokenKeys.wallet(skewed('transfer wallet', 'n', wallets))}, ${master('transfer master')}, n, 1 FROM ${numbers}`,
    },
    {
      what: 'jetton burns',
      count: Math.ceil(transactions / every.jettonBurn),
      statement: (
        numbers,
      ) => `INSERT INTO jetton_burns (${transactionColumns}, owner, jetton_wallet, jetton_master, amount)
        SELECT ${transaction(every.jettonBurn)}, ${holder('burner')}, ${tokenKeys.wallet(skewed('burn wallet', 'n', wallets))},
          ${master('burn master')}, n FROM ${numbers}`,
    },
    {
      what: 'NFT transfers',
      count: Math.ceil(transactions / every.nftTransfer),
      statement: (
        numbers,
      ) => `INSERT INTO nft_transfers (${transactionColumns}, nft_item, nft_index, nft_collection, old_owner, new_owner)
        SELECT ${transaction(every.nftTransfer)}, ${tokenKeys.item(skewed('transfer item', 'n', items))}, n, ${collection('transfer collection')},
          ${holder('giver')}, ${holder('taker')} FROM ${numbers}`,
    },
  ];
}
