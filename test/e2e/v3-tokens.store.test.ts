import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  bytesOf,
  commentBoc,
  jettonBurnRow,
  jettonTransferRow,
  nftTransferRow,
  rawOf,
  saleRow,
} from '#test/support/token-rows.ts';
import { base64, commentPayload, rawAt, startTokenScene, stateAt, type TokenScene } from '#test/support/token-scene.ts';
import type { Query, V3UnderTest } from '#test/support/v3-service.ts';

type Json = Record<string, unknown>;

let scene: TokenScene;
let v3: V3UnderTest;

beforeAll(async () => {
  scene = await startTokenScene(import.meta.filename);
  ({ v3 } = scene);
});
afterAll(() => v3.close());

const get: TokenScene['get'] = (operation, query, headers) => scene.get(operation, query, headers);

async function listWallets(query: Query): Promise<Json[]> {
  return (await get<{ jetton_wallets: Json[] }>('jetton/wallets', query)).jetton_wallets;
}

async function listItems(query: Query): Promise<Json[]> {
  return (await get<{ nft_items: Json[] }>('nft/items', query)).nft_items;
}

async function numbersOf(query: Query): Promise<unknown[]> {
  return (await listItems(query)).map(({ index }) => index);
}

/** Made rows are known by their query ids. */
async function queryIds(query: Query): Promise<unknown[]> {
  const { jetton_transfers: shown } = await get<{ jetton_transfers: Json[] }>('jetton/transfers', query);
  return shown.map(({ query_id: id }) => id);
}

/** A made burn as answers show it. */
function burnAt(at: number): Json {
  const row = jettonBurnRow(at);
  return {
    query_id: String(at),
    owner: rawOf(row.owner),
    jetton_wallet: rawOf(row.jetton_wallet),
    jetton_master: rawOf(row.jetton_master),
    transaction_hash: base64(row.tx_hash),
    transaction_lt: row.tx_lt.toString(),
    transaction_now: row.tx_utime,
    transaction_aborted: at === 0,
    amount: String(at),
    response_destination: at === 0 ? null : 'addr_none',
    custom_payload: null,
    decoded_custom_payload: null,
    trace_id: null,
  };
}

/** A made transfer as answers show it. */
function nftTransferAt(at: number): Json {
  const row = nftTransferRow(at);
  return {
    query_id: String(at),
    nft_address: rawOf(row.nft_item),
    nft_collection: rawAt('collection', 0),
    transaction_hash: base64(row.tx_hash),
    transaction_lt: row.tx_lt.toString(),
    transaction_now: row.tx_utime,
    transaction_aborted: false,
    old_owner: rawOf(row.old_owner),
    new_owner: rawOf(row.new_owner!),
    response_destination: 'addr_none',
    custom_payload: null,
    decoded_custom_payload: null,
    forward_amount: '1',
    forward_payload: null,
    decoded_forward_payload: null,
    trace_id: null,
  };
}

describe('jetton/masters', () => {
  it('shows what masters say', async () => {
    const { jetton_masters: masters, address_book: book } = await get('jetton/masters', {
      address: rawAt('master', 3),
    });
    expect(masters).toEqual([
      {
        address: rawAt('master', 3),
        total_supply: (3n * 10n ** 20n).toString(),
        mintable: false,
        admin_address: rawAt('admin', 0),
        jetton_content: { uri: 'https://example.com/3.json' },
        jetton_wallet_code_hash: base64(bytesOf('wallet code', 0)),
        ...stateAt('master', 3),
      },
    ]);
    expect(Object.keys(book as Json)).toEqual([rawAt('master', 3), rawAt('admin', 0)]);
  });

  it('are found by admin, as they were first seen', async () => {
    const { jetton_masters: masters } = await get<{ jetton_masters: Json[] }>('jetton/masters', {
      admin_address: [rawAt('admin', 0), rawAt('admin', 1)],
    });
    expect(masters.map(({ address }) => address)).toEqual([0, 1, 3, 4].map((at) => rawAt('master', at)));
  });
});

describe('jetton/wallets', () => {
  it('shows balances beyond 64 bits, and where the unclaimed is asked for', async () => {
    expect(await listWallets({ owner_address: [rawAt('owner', 0), rawAt('owner', 1)] })).toEqual([
      {
        address: rawAt('wallet', 0),
        balance: '5',
        owner: rawAt('owner', 0),
        jetton: rawAt('master', 0),
        ...stateAt('wallet', 0),
      },
      {
        address: rawAt('wallet', 1),
        balance: '0',
        owner: rawAt('owner', 0),
        jetton: rawAt('master', 3),
        ...stateAt('wallet', 1),
        mintless_info: {
          amount: null,
          start_from: null,
          expire_at: null,
          custom_payload_api_uri: ['https://example.com/claims'],
        },
      },
      {
        address: rawAt('wallet', 2),
        balance: (10n ** 30n).toString(),
        owner: rawAt('owner', 1),
        jetton: rawAt('master', 0),
        ...stateAt('wallet', 2),
        data_hash: null,
      },
    ]);
  });

  it('leaves out those without a balance when told to, and orders by balance when told how', async () => {
    expect((await listWallets({ exclude_zero_balance: true })).map(({ balance }) => balance)).toEqual([
      '5',
      (10n ** 30n).toString(),
    ]);
    expect((await listWallets({ sort: 'desc' })).map(({ balance }) => balance)).toEqual([
      (10n ** 30n).toString(),
      '5',
      '0',
    ]);
  });
});

describe('jetton/transfers', () => {
  it('shows both ends, the words on the way, and the trace', async () => {
    const { jetton_transfers: shown, address_book: book } = await get('jetton/transfers', {
      owner_address: rawAt('owner', 0),
    });
    const made = jettonTransferRow(1);
    expect(shown).toEqual([
      {
        query_id: '0',
        source: rawAt('owner', 1),
        destination: rawAt('owner', 0),
        amount: (10n ** 20n).toString(),
        source_wallet: rawAt('wallet', 0),
        jetton_master: rawAt('master', 0),
        transaction_hash: base64(scene.recorded.hash),
        transaction_lt: scene.recorded.lt.toString(),
        transaction_now: scene.recorded.utime,
        transaction_aborted: false,
        response_destination: rawAt('owner', 0),
        custom_payload: null,
        decoded_custom_payload: null,
        forward_ton_amount: '1',
        forward_payload: base64(commentPayload),
        decoded_forward_payload: { '@type': 'text_comment', type: 'text_comment', comment: 'order 7' },
        trace_id: base64(scene.recorded.trace_id),
      },
      {
        query_id: '1',
        source: rawAt('owner', 0),
        destination: 'addr_none',
        amount: (10n ** 20n).toString(),
        source_wallet: rawAt('wallet', 1),
        jetton_master: rawAt('master', 1),
        transaction_hash: base64(made.tx_hash),
        transaction_lt: made.tx_lt.toString(),
        transaction_now: made.tx_utime,
        transaction_aborted: false,
        response_destination: null,
        custom_payload: base64(commentBoc('custom')),
        decoded_custom_payload: { '@type': 'text_comment', type: 'text_comment', comment: 'custom' },
        forward_ton_amount: null,
        forward_payload: null,
        decoded_forward_payload: null,
        trace_id: null,
      },
    ]);
    expect((book as Json)['addr_none']).toMatchObject({ user_friendly: 'addr_none' });
  });

  it('takes the older name of the owner, and both ways of saying either', async () => {
    const owner = rawAt('owner', 0);
    expect(await queryIds({ address: owner })).toEqual(['0', '1']);
    expect(await queryIds({ address: owner, owner_address: rawAt('owner', 6) })).toEqual([]);
    expect(await queryIds({ owner_address: owner, direction: 'both' })).toEqual(['0', '1']);
    expect(await queryIds({ owner_address: owner, direction: 'in' })).toEqual(['0']);
    expect(await queryIds({ owner_address: owner, direction: 'out' })).toEqual(['1']);
    expect(await queryIds({ jetton_master: rawAt('master', 2) })).toEqual([]);
  });
});

describe('jetton/burns', () => {
  it('jetton/burns shows failed burns too', async () => {
    const { jetton_burns: shown } = await get('jetton/burns', {
      owner_address: [rawAt('owner', 0), rawAt('owner', 1)],
    });
    expect(shown).toEqual([burnAt(1), burnAt(0)]);
  });
});

const collectionView = {
  address: rawAt('collection', 0),
  owner_address: rawAt('owner', 0),
  next_item_index: '0',
  collection_content: { uri: 'https://example.com/0.json' },
  ...stateAt('collection', 0),
};

describe('nft/collections', () => {
  it('shows what collections say', async () => {
    const { nft_collections: shown } = await get('nft/collections', {
      collection_address: [rawAt('collection', 1), rawAt('collection', 0)],
    });
    expect(shown).toEqual([
      collectionView,
      {
        address: rawAt('collection', 1),
        owner_address: null,
        next_item_index: '1',
        collection_content: { uri: 'https://example.com/1.json' },
        ...stateAt('collection', 1),
      },
    ]);
  });
});

describe('nft/items', () => {
  it('nft/items shows an item with its collection, and an item without collection', async () => {
    expect(await listItems({ address: [rawAt('item', 0), rawAt('item', 2)] })).toEqual([
      {
        address: rawAt('item', 0),
        init: true,
        index: '0',
        collection_address: rawAt('collection', 0),
        owner_address: rawAt('owner', 0),
        content: { name: 'Item 0' },
        ...stateAt('item', 0),
        collection: collectionView,
        on_sale: false,
      },
      {
        address: rawAt('item', 2),
        init: true,
        index: '2',
        collection_address: null,
        owner_address: rawAt('sale', 2),
        content: { name: 'Item 2' },
        ...stateAt('item', 2),
        collection: null,
        on_sale: true,
        auction_contract_address: rawAt('sale', 2),
        real_owner: rawAt('owner', 1),
      },
    ]);
  });

  it('counts what is sold as the seller’s when told to', async () => {
    expect(await numbersOf({ owner_address: rawAt('owner', 0) })).toEqual(['0']);
    const sold = await listItems({ owner_address: rawAt('owner', 0), include_on_sale: true });
    expect(sold.map(({ index, real_owner: owner }) => [index, owner])).toEqual([
      ['0', undefined],
      ['1', rawAt('owner', 0)],
    ]);
    expect(await numbersOf({ owner_address: rawAt('sale', 1) })).toEqual(['1']);
    expect(await numbersOf({ owner_address: rawAt('sale', 1), include_on_sale: true })).toEqual([]);
  });

  it('finds items by index, beyond 64 bits too, and the newest first', async () => {
    const [collection, index] = [rawAt('collection', 0), (2n ** 200n).toString()];
    expect(await numbersOf({ collection_address: collection })).toEqual(['0', index]);
    expect(await numbersOf({ collection_address: collection, index: [index, '7'] })).toEqual([index]);
    expect(await numbersOf({ sort_by_last_transaction_lt: true })).toEqual([index, '2', '0', '1']);
  });

  it('goes on behind an index beyond 64 bits', async () => {
    const query = { collection_address: rawAt('collection', 0), limit: 2 };
    const cursor = (await v3.get('nft/items', query)).headers.get('x-next-cursor')!;
    expect(await numbersOf({ ...query, cursor })).toEqual([]);
  });
});

describe('nft/transfers', () => {
  it('shows who gave and who got, those that came to nothing too', async () => {
    const { nft_transfers: shown } = await get('nft/transfers', { item_address: [rawAt('item', 0), rawAt('item', 1)] });
    const comment = { '@type': 'text_comment', type: 'text_comment', comment: 'order 7' };
    expect(shown).toEqual([
      { ...nftTransferAt(1), nft_collection: 'addr_none', new_owner: 'addr_none', forward_amount: null },
      {
        ...nftTransferAt(0),
        transaction_aborted: true,
        forward_payload: base64(commentPayload),
        decoded_forward_payload: comment,
      },
    ]);
  });
});

describe('nft/sales', () => {
  it('shows contracts that sell, in the order asked for, with what they sell', async () => {
    const { nft_sales: shown, address_book: book } = await get<{ nft_sales: Json[]; address_book: Json }>('nft/sales', {
      address: [rawAt('item', 3), rawAt('sale', 1), rawAt('owner', 0), rawAt('sale', 2), rawAt('sale', 1)],
    });
    expect(
      shown.map(({ type, address, nft_address: nft, nft_item: item }) => [type, address, nft, (item as Json)['index']]),
    ).toEqual([
      // An item of Fragment sells itself.
      ['telemint', rawAt('item', 3), rawAt('item', 3), (2n ** 200n).toString()],
      ['getgems_sale', rawAt('sale', 1), rawAt('item', 1), '1'],
      ['getgems_auction', rawAt('sale', 2), rawAt('item', 2), '2'],
    ]);
    const { nft_item: item, ...sale } = shown[1]!;
    expect(sale).toEqual({
      type: 'getgems_sale',
      address: rawAt('sale', 1),
      nft_address: rawAt('item', 1),
      nft_owner_address: rawAt('owner', 0),
      marketplace_address: rawAt('market', 0),
      created_at: 1_700_000_000,
      ...stateAt('sale', 1),
      details: saleRow(1).details,
    });
    expect(item).toEqual((await get<{ nft_items: Json[] }>('nft/items', { address: rawAt('item', 1) })).nft_items[0]);
    expect(Object.keys(book)).toEqual(
      expect.arrayContaining([rawAt('royalty', 0), rawAt('owner', 3), rawAt('item', 2)]),
    );
  });
});

describe('what is wrong with a request about tokens', () => {
  const [owner, other] = [rawAt('owner', 0), rawAt('owner', 1)];
  const jettons = [rawAt('master', 0), rawAt('master', 1)];
  it.each<[string, Query, string]>([
    ['jetton/wallets', { jetton_address: jettons }, 'exact one owner_address required for multiple jetton_address'],
    [
      'jetton/wallets',
      { jetton_address: jettons, owner_address: [owner, other] },
      'exact one owner_address required for multiple jetton_address',
    ],
    ['jetton/wallets', { sort: 'up' }, 'wrong value for sort parameter'],
    ['jetton/transfers', { direction: 'up' }, 'direction should be one of: in, out'],
    ['nft/transfers', { direction: 'up' }, 'direction should be one of: in, out'],
    ['nft/items', { index: '0x1', collection_address: owner }, 'index should contain digits only'],
    ['nft/items', { index: '1' }, 'index parameter is not allowed without the collection_address'],
    ['nft/items', { collection_address: jettons }, 'exact one owner_address required for multiple collection_address'],
    ['nft/sales', {}, 'at least 1 address required'],
    ['jetton/masters', { limit: 1001 }, 'limit is not allowed: 1001 > 1000'],
    ['jetton/masters', { address: 'x' }, 'failed to decode: schema: error converting value for index 0 of "address"'],
  ])('%s %j is told', async (operation, query, error) => {
    const { status, body, flaws } = await v3.get(operation, query);
    expect([status, body, flaws]).toEqual([422, { ok: false, code: 422, error }, []]);
  });

  it('several jettons of one owner are no mistake, nor several collections', async () => {
    expect(await listWallets({ jetton_address: jettons, owner_address: owner })).toHaveLength(1);
    expect(await listItems({ collection_address: jettons, owner_address: owner })).toEqual([]);
  });
});
