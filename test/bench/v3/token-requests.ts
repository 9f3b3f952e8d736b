import type { Store } from '#service/store/store.ts';
import { generated } from './generated-index.ts';
import { familiesOf, itemsOfSale, salesOf, tokenKeys, type TokenCounts } from './generated-tokens.ts';
import { list, type Requests } from './requests.ts';

/** Tokens and accounts to ask for: an owner of the wallet and of the item, drawn as they are in the index. */
type Sample = {
  readonly wallet: string;
  readonly walletOwner: string;
  readonly master: string;
  readonly item: string;
  readonly itemOwner: string;
  readonly collection: string;
  readonly sale: string;
  readonly sender: string;
  readonly receiver: string;
  readonly utime: number;
};

const samples = 220;

const addressOf = (key: string): string => `'0:' || encode(substr(${key}, 2), 'hex')`;

const hour = (row: Sample): string => `start_utime=${row.utime - 3600}&end_utime=${row.utime}`;

/** Requests about tokens: of what most accounts have, and of the busiest. */
export async function tokenRequestsOf(store: Store, counts: TokenCounts): Promise<readonly Requests[]> {
  const rows = await drawSamples(store, counts);
  const of = (make: (row: Sample) => string) => (turn: number) => make(rows[turn % rows.length] as Sample);
  const [first] = await store.read<{ account: string; master: string; collection: string }>(
    `SELECT ${addressOf(generated.accountAt('0'))} AS account, ${addressOf(tokenKeys.master('0'))} AS master,
       ${addressOf(tokenKeys.collection('0'))} AS collection`,
  );
  const { account = '', master = '', collection = '' } = first ?? {};
  return list({
    'jetton/masters as first seen': () => '',
    'jetton/masters by address': of((row) => `address=${row.master}`),
    'jetton/wallets as first seen': () => '',
    'jetton/wallets of an owner': of((row) => `owner_address=${row.walletOwner}`),
    'jetton/wallets of an owner and a jetton': of(
      (row) => `owner_address=${row.walletOwner}&jetton_address=${row.master}`,
    ),
    'jetton/wallets of the busiest owner': () => `owner_address=${account}`,
    'jetton/wallets of the busiest owner by balance': () =>
      `owner_address=${account}&sort=desc&exclude_zero_balance=true`,
    'jetton/wallets of a jetton by balance': of((row) => `jetton_address=${row.master}&sort=desc`),
    'jetton/wallets of the biggest jetton by balance': () => `jetton_address=${master}&sort=desc`,
    'jetton/wallets by balance': () => 'sort=desc',
    'jetton/transfers latest': () => '',
    'jetton/transfers of an owner': of((row) => `owner_address=${row.sender}`),
    'jetton/transfers received since an hour': of(
      (row) => `owner_address=${row.receiver}&direction=in&start_utime=${row.utime - 3600}`,
    ),
    'jetton/transfers of the busiest owner': () => `owner_address=${account}`,
    'jetton/transfers of the busiest owner in an hour': of((row) => `owner_address=${account}&${hour(row)}`),
    'jetton/transfers of a wallet': of((row) => `jetton_wallet=${row.wallet}`),
    'jetton/transfers of the biggest jetton': () => `jetton_master=${master}`,
    'jetton/transfers in an hour': of(hour),
    'jetton/burns latest': () => '',
    'jetton/burns of the busiest owner': () => `owner_address=${account}`,
    'nft/collections as first seen': () => '',
    'nft/items of an owner': of((row) => `owner_address=${row.itemOwner}`),
    'nft/items of the busiest owner': () => `owner_address=${account}`,
    'nft/items of an owner, sold ones too': of((row) => `owner_address=${row.itemOwner}&include_on_sale=true`),
    'nft/items of the busiest owner, sold ones too': () => `owner_address=${account}&include_on_sale=true`,
    'nft/items of the biggest collection': () => `collection_address=${collection}`,
    'nft/items of the biggest collection, newest first': () =>
      `collection_address=${collection}&sort_by_last_transaction_lt=true`,
    'nft/items newest first': () => 'sort_by_last_transaction_lt=true',
    'nft/items by address': of((row) => `address=${row.item}`),
    'nft/transfers latest': () => '',
    'nft/transfers of the busiest owner': () => `owner_address=${account}`,
    'nft/transfers of an item': of((row) => `item_address=${row.item}`),
    'nft/sales by 100 addresses': (turn) =>
      Array.from({ length: 100 }, (_, at) => `address=${rows[(turn + at) % rows.length]?.sale ?? ''}`).join('&'),
    'metadata of 10': (turn) =>
      rows
        .slice(turn % 200, (turn % 200) + 10)
        .map((row) => `address=${row.master}&address=${row.collection}`)
        .join('&'),
  });
}

/** A number below `count`, by the number `s` of the sample. */
const drawn = (what: string, count: number): string => `(abs(hashtextextended('${what}', s)) % ${count})`;

async function drawSamples(store: Store, counts: TokenCounts): Promise<readonly Sample[]> {
  const { collections } = familiesOf(counts);
  const owned = 'i.owner IS NOT NULL AND NOT EXISTS (SELECT FROM nft_sales WHERE address = i.owner)';
  return store.read<Sample>(
    `SELECT ${addressOf('w.address')} AS wallet, ${addressOf('w.owner')} AS "walletOwner", ${addressOf('w.jetton')} AS master,
       ${addressOf('i.address')} AS item, ${addressOf('i.owner')} AS "itemOwner",
       ${addressOf(tokenKeys.collection(drawn('collection', collections)))} AS collection,
       ${addressOf(tokenKeys.sale(`${drawn('sale', salesOf(counts))} * ${itemsOfSale}`))} AS sale,
       ${addressOf('t.source')} AS sender, ${addressOf('t.destination')} AS receiver, t.tx_utime AS utime
     FROM generate_series(1, ${samples * 2}) AS s
     JOIN jetton_wallets w ON w.address = ${tokenKeys.wallet(drawn('wallet', counts.wallets))}
     JOIN nft_items i ON i.address = ${tokenKeys.item(drawn('item', counts.items))} AND ${owned}
     CROSS JOIN LATERAL (SELECT * FROM jetton_transfers WHERE tx_lt >= ${generated.lt(drawn('transfer', counts.transactions - 1000))} ORDER BY tx_lt LIMIT 1) t
     LIMIT ${samples}`,
    [],
    { timeoutMs: 60_000 },
  );
}
