import { commentBody } from '#service/devchain/demo/tokens.ts';
import { accountKey } from '#service/store/account-key.ts';
import { createInserts } from '#service/store/insert.ts';
import {
  addressMetadata,
  jettonBurns,
  jettonMasters,
  jettonTransfers,
  jettonWallets,
  nftCollections,
  nftItems,
  nftSales,
  nftTransfers,
  type AddressMetadataRow,
  type JettonBurnRow,
  type JettonMasterRow,
  type JettonTransferRow,
  type JettonWalletRow,
  type NftCollectionRow,
  type NftItemRow,
  type NftSaleRow,
  type NftTransferRow,
} from '#service/store/classification-tables.ts';
import type { Session, Store } from '#service/store/store.ts';
import { blocks, type BlockRow } from '#service/store/tables.ts';
import { createDraw, type Draw } from './draw.ts';
import type { StoreUnderTest } from './store.ts';
import { createMigratedStore } from './templates.ts';

// Rows of made tokens: what the tables hold, without a chain that they came from.

/** 32 bytes that a name and a number stand for. */
export function bytesOf(kind: string, at: number): Buffer {
  const bytes = Buffer.alloc(32);
  bytes.write(kind);
  bytes.writeUInt32BE(at, 28);
  return bytes;
}

/** Key of an account of the basechain that a name and a number stand for. */
export function keyOf(kind: string, at: number): Buffer {
  return accountKey({ workchain: 0, id: bytesOf(kind, at) });
}

/** A key as answers show the account. */
export function rawOf(key: Uint8Array): string {
  return `${key[0]! - 128}:${Buffer.from(key.subarray(1)).toString('hex').toUpperCase()}`;
}

/** BoC of a text comment. */
export function commentBoc(text: string): Buffer {
  return commentBody(text).toBoc();
}

const state = (kind: string, at: number) => ({
  last_trans_lt: BigInt(1_000_000 + at),
  code_hash: bytesOf(`${kind} code`, 0),
  data_hash: bytesOf(`${kind} data`, at),
});

export function masterRow(at: number, row: Partial<JettonMasterRow> = {}): JettonMasterRow {
  return {
    address: keyOf('master', at),
    total_supply: BigInt(at) * 10n ** 20n,
    mintable: at % 2 === 0,
    admin: keyOf('admin', at % 3),
    content: { name: `Jetton ${at}`, symbol: `J${at}`, decimals: '6' },
    wallet_code_hash: bytesOf('wallet code', 0),
    ...state('master', at),
    ...row,
  };
}

export function walletRow(at: number, row: Partial<JettonWalletRow> = {}): JettonWalletRow {
  return {
    address: keyOf('wallet', at),
    balance: BigInt(at),
    owner: keyOf('owner', at % 5),
    jetton: keyOf('master', at % 3),
    mintless_is_claimed: null,
    ...state('wallet', at),
    ...row,
  };
}

export function collectionRow(at: number, row: Partial<NftCollectionRow> = {}): NftCollectionRow {
  return {
    address: keyOf('collection', at),
    next_item_index: BigInt(at),
    owner: keyOf('owner', at % 5),
    content: { uri: `https://example.com/${at}.json` },
    ...state('collection', at),
    ...row,
  };
}

export function itemRow(at: number, row: Partial<NftItemRow> = {}): NftItemRow {
  return {
    address: keyOf('item', at),
    init: true,
    index: BigInt(at),
    collection: keyOf('collection', at % 3),
    owner: keyOf('owner', at % 5),
    content: { name: `Item ${at}` },
    ...state('item', at),
    ...row,
  };
}

export function saleRow(at: number, row: Partial<NftSaleRow> = {}): NftSaleRow {
  return {
    address: keyOf('sale', at),
    type: 'getgems_sale',
    nft: keyOf('item', at),
    nft_owner: keyOf('owner', at % 5),
    marketplace: keyOf('market', 0),
    created_at: 1_700_000_000,
    details: { is_complete: false, full_price: '5000000000', royalty_address: rawOf(keyOf('royalty', 0)) },
    ...state('sale', at),
    ...row,
  };
}

const transaction = (kind: string, at: number) => ({
  tx_hash: bytesOf(kind, at),
  tx_lt: BigInt(2_000_000 + at * 10),
  tx_utime: 1_700_000_000 + at,
  tx_aborted: false,
  mc_seqno: 1,
  query_id: BigInt(at),
});

export function jettonTransferRow(at: number, row: Partial<JettonTransferRow> = {}): JettonTransferRow {
  return {
    ...transaction('jetton transfer', at),
    source: keyOf('owner', at % 5),
    destination: keyOf('owner', (at + 1) % 5),
    jetton_wallet: keyOf('wallet', at % 7),
    jetton_master: keyOf('master', at % 3),
    amount: 10n ** 20n,
    response_destination: rawOf(keyOf('owner', at % 5)),
    custom_payload: null,
    forward_ton_amount: 1n,
    forward_payload: commentBoc(`order ${at}`),
    returned: false,
    ...row,
  };
}

export function jettonBurnRow(at: number, row: Partial<JettonBurnRow> = {}): JettonBurnRow {
  return {
    ...transaction('jetton burn', at),
    owner: keyOf('owner', at % 5),
    jetton_wallet: keyOf('wallet', at % 7),
    jetton_master: keyOf('master', at % 3),
    amount: BigInt(at),
    response_destination: null,
    custom_payload: null,
    returned: false,
    ...row,
  };
}

export function nftTransferRow(at: number, row: Partial<NftTransferRow> = {}): NftTransferRow {
  return {
    ...transaction('nft transfer', at),
    nft_item: keyOf('item', at % 7),
    nft_index: BigInt(at % 7),
    nft_collection: keyOf('collection', at % 3),
    old_owner: keyOf('owner', at % 5),
    new_owner: keyOf('owner', (at + 1) % 5),
    response_destination: 'addr_none',
    custom_payload: null,
    forward_amount: 1n,
    forward_payload: null,
    ...row,
  };
}

export function metadataRow(
  token: Pick<AddressMetadataRow, 'address' | 'type'>,
  row: Partial<AddressMetadataRow> = {},
): AddressMetadataRow {
  return {
    valid: true,
    name: 'Fetched',
    description: null,
    symbol: null,
    image: null,
    extra: {},
    updated_at: 1_700_000_000,
    expires_at: 2_000_000_000,
    ...token,
    ...row,
  };
}

export type TokenRows = {
  readonly masters?: readonly JettonMasterRow[];
  readonly wallets?: readonly JettonWalletRow[];
  readonly collections?: readonly NftCollectionRow[];
  readonly items?: readonly NftItemRow[];
  readonly sales?: readonly NftSaleRow[];
  readonly jettonTransfers?: readonly JettonTransferRow[];
  readonly jettonBurns?: readonly JettonBurnRow[];
  readonly nftTransfers?: readonly NftTransferRow[];
  readonly metadata?: readonly AddressMetadataRow[];
};

/** Masterchain blocks around the times and lts of made transactions, without which no window of time is one of lt. */
async function insertBlocks(session: Session): Promise<void> {
  const zeros: Readonly<Record<string, unknown>> = { bytea: Buffer.alloc(32), boolean: false, bigint: 0n };
  const empty = Object.fromEntries(
    Object.entries(blocks.columns).map(([name, { sql, nullable }]) => [name, nullable ? null : (zeros[sql] ?? 0)]),
  ) as BlockRow;
  const place = { workchain: -1, shard: -(2n ** 63n) };
  const times = [
    { gen_utime: 1_699_999_000, start_lt: 1_000_000n },
    { gen_utime: 1_699_999_990, start_lt: 1_999_990n },
    { gen_utime: 1_700_000_700, start_lt: 2_100_000n },
    { gen_utime: 1_749_999_900, start_lt: 30_000_000_000_000n },
    { gen_utime: 1_800_000_000, start_lt: 90_000_000_000_000n },
  ].map((row, at) => ({ ...row, end_lt: row.start_lt + 1n, seqno: at + 1 }));
  await createInserts(session, 'unnest').add(
    blocks,
    times.map((row) => ({ ...empty, ...place, ...row, mc_seqno: row.seqno })),
  );
}

/** A new database that holds made tokens alone. */
export async function createTokenStore(testFile: string, rows: TokenRows): Promise<StoreUnderTest> {
  const made = await createMigratedStore(testFile);
  await made.store.transaction(insertBlocks);
  await insertTokens(made.store, rows);
  await made.store.transaction(({ query }) => query('ANALYZE'));
  return made;
}

/** Puts rows into the tables, those of contracts in the order given: that is when each was first seen. */
export async function insertTokens(store: Store, rows: TokenRows): Promise<void> {
  await store.transaction(async (session) => {
    const inserts = createInserts(session, 'unnest');
    for (const row of rows.masters ?? []) await inserts.add(jettonMasters, [row]);
    for (const row of rows.wallets ?? []) await inserts.add(jettonWallets, [row]);
    for (const row of rows.collections ?? []) await inserts.add(nftCollections, [row]);
    for (const row of rows.items ?? []) await inserts.add(nftItems, [row]);
    await inserts.add(nftSales, rows.sales ?? []);
    await inserts.add(jettonTransfers, rows.jettonTransfers ?? []);
    await inserts.add(jettonBurns, rows.jettonBurns ?? []);
    await inserts.add(nftTransfers, rows.nftTransfers ?? []);
    await inserts.add(addressMetadata, rows.metadata ?? []);
  });
}

const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

/** Tokens that few accounts share in every way, some rows alike in what lists are ordered by. */
export function drawTokens(seed: number): Required<TokenRows> {
  const draw = createDraw(seed);
  const owner = (): Buffer => keyOf('owner', draw(6));
  const master = (): Buffer => keyOf('master', draw(4));
  const shuffled = <T>(rows: readonly T[]): T[] =>
    rows
      .map((row) => ({ row, place: draw(1000) }))
      .toSorted((a, b) => a.place - b.place)
      .map(({ row }) => row);
  const items = many(120, (at) => drawItem(draw, at));
  const sold = items.filter(({ owner: holder }) => holder !== null && Buffer.from(holder).includes('sale'));
  // A contract's transactions are in the order of time when they are in that of lt; those of several are not.
  const transactionOf = (at: number, contract: number) => ({
    tx_lt: BigInt(2_000_000 + at * 10),
    tx_utime: 1_700_000_000 + Math.floor(at / 3) + contract * 2,
    tx_aborted: draw(5) === 0,
  });
  const ofWallet = (at: number, wallet = draw(7)) => ({
    ...transactionOf(at, wallet),
    jetton_wallet: keyOf('wallet', wallet),
    jetton_master: master(),
  });
  const ofItem = (at: number, item = draw(7)) => ({ ...transactionOf(at, item), nft_item: keyOf('item', item) });
  return {
    masters: shuffled(many(12, (at) => masterRow(at, { admin: draw(4) === 0 ? null : keyOf('admin', draw(3)) }))),
    wallets: shuffled(many(100, (at) => walletRow(at, { balance: BigInt(draw(8)), owner: owner(), jetton: master() }))),
    collections: shuffled(many(12, (at) => collectionRow(at, { owner: owner() }))),
    items: shuffled(items),
    sales: sold.map((row, at) =>
      saleRow(Number(row.index), {
        address: row.owner!,
        nft: row.address,
        nft_owner: draw(6) === 0 ? null : owner(),
        type: at % 3 === 0 ? 'getgems_auction' : 'getgems_sale',
      }),
    ),
    jettonTransfers: many(200, (at) =>
      jettonTransferRow(at, {
        ...ofWallet(at),
        source: owner(),
        destination: draw(9) === 0 ? null : owner(),
        returned: at % 6 === 0,
      }),
    ),
    jettonBurns: many(100, (at) => jettonBurnRow(at, { ...ofWallet(at), owner: owner() })),
    nftTransfers: many(150, (at) =>
      nftTransferRow(at, {
        ...ofItem(at),
        old_owner: owner(),
        new_owner: draw(9) === 0 ? null : owner(),
        nft_collection: draw(5) === 0 ? null : keyOf('collection', draw(3)),
      }),
    ),
    metadata: [],
  };
}

function drawItem(draw: Draw, at: number): NftItemRow {
  const held = draw(4) === 0;
  return itemRow(at, {
    index: BigInt(at),
    collection: draw(6) === 0 ? null : keyOf('collection', draw(3)),
    owner: held ? keyOf('sale', at) : draw(9) === 0 ? null : keyOf('owner', draw(6)),
    last_trans_lt: BigInt(draw(40)),
  });
}
