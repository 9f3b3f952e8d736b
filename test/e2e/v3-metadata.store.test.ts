import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { collectionRow, insertTokens, keyOf, masterRow, metadataRow, rawOf } from '#test/support/token-rows.ts';
import { base64, rawAt, startTokenScene, tokenWords, type TokenScene } from '#test/support/token-scene.ts';
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

const fetchedInfo = {
  valid: true,
  type: 'jetton_masters',
  name: 'Fetched',
  symbol: 'FET',
  is_nsfw: false,
  is_scam: false,
  extra: { decimals: '9', custom_payload_api_uri: 'https://example.com/claims' },
};
const onChainInfo = {
  valid: true,
  type: 'jetton_masters',
  name: 'On chain',
  symbol: 'ON',
  image: 'https://a/b.png',
  is_nsfw: false,
  is_scam: false,
  extra: { decimals: '6' },
};

async function infoOf(address: string): Promise<unknown> {
  return (await get('metadata', { address }))[address];
}

describe('metadata', () => {
  it('of a token whose words are all on the chain is whole, without anybody fetching', async () => {
    expect(await infoOf(rawOf(tokenWords.onChain.address))).toEqual({ is_indexed: true, token_info: [onChainInfo] });
  });

  it('of one that keeps some outside is what the chain says, and not indexed', async () => {
    expect(await infoOf(rawOf(tokenWords.halfOnChain.address))).toEqual({
      is_indexed: false,
      token_info: [
        {
          type: 'jetton_masters',
          symbol: 'HALF',
          extra: { uri: 'https://example.com/1.json', decimals: '8' },
        },
      ],
    });
  });

  it('of one that keeps all outside is its type, and an item’s number', async () => {
    expect(await infoOf(rawOf(tokenWords.offChain.address))).toEqual({
      is_indexed: false,
      token_info: [{ type: 'jetton_masters' }],
    });
    expect(await infoOf(rawAt('collection', 0))).toEqual({
      is_indexed: false,
      token_info: [{ type: 'nft_collections' }],
    });
    expect(await infoOf(rawAt('item', 3))).toEqual({
      is_indexed: true,
      token_info: [
        {
          valid: true,
          type: 'nft_items',
          name: 'Item 3',
          nft_index: (2n ** 200n).toString(),
          is_nsfw: false,
          is_scam: false,
        },
      ],
    });
  });

  it('that was fetched is as it was fetched, and one that could not be is not valid', async () => {
    expect(await infoOf(rawOf(tokenWords.fetched.address))).toEqual({ is_indexed: true, token_info: [fetchedInfo] });
    const invalid = { is_indexed: true, token_info: [{ valid: false, type: 'jetton_masters' }] };
    expect(await infoOf(rawOf(tokenWords.failed.address))).toEqual(invalid);
    // Nothing is outside, and what is on the chain is too little (service/metadata/README.md#token-metadata).
    expect(await infoOf(rawOf(tokenWords.nothing.address))).toEqual(invalid);
  });

  it('of a wallet is its row, and that of its master stands beside it', async () => {
    const wallet = rawAt('wallet', 0);
    expect(Object.entries(await get('metadata', { address: wallet }))).toEqual([
      [
        wallet,
        {
          is_indexed: true,
          token_info: [
            {
              valid: true,
              type: 'jetton_wallets',
              extra: { owner: rawAt('owner', 0), jetton: rawAt('master', 0), balance: '5' },
            },
          ],
        },
      ],
      [rawAt('master', 0), { is_indexed: true, token_info: [onChainInfo] }],
    ]);
  });

  it('is in the order asked for, by raw address; what is no token, or no address, is left out', async () => {
    const asked = [rawAt('item', 0), 'foo', rawAt('owner', 0), rawAt('master', 3).toLowerCase(), rawAt('item', 0)];
    expect(Object.keys(await get('metadata', { address: asked }))).toEqual([rawAt('item', 0), rawAt('master', 3)]);
  });

  it('that is very long is told without what is too long', async () => {
    const key = keyOf('long', 0);
    const words = { name: 'Long', description: 'x'.repeat(20_000), extra: { attributes: 'y'.repeat(16_384) } };
    await insertTokens(v3.index.store, {
      masters: [masterRow(60, { address: key })],
      metadata: [metadataRow({ address: key, type: 'jetton_masters' }, words)],
    });
    expect(await infoOf(rawOf(key))).toEqual({
      is_indexed: true,
      token_info: [{ valid: true, type: 'jetton_masters', name: 'Long', is_nsfw: false, is_scam: false }],
    });
  });

  it('of an account that is two things is both', async () => {
    const key = keyOf('both', 0);
    await insertTokens(v3.index.store, {
      masters: [masterRow(50, { address: key })],
      collections: [collectionRow(50, { address: key, content: { name: 'Both' } })],
    });
    const found = (await infoOf(rawOf(key))) as { is_indexed: boolean; token_info: Json[] };
    expect([found.is_indexed, found.token_info.map(({ type }) => type)]).toEqual([
      true,
      ['jetton_masters', 'nft_collections'],
    ]);
  });

  it('every answer has the metadata of all its accounts, unless the caller wants none', async () => {
    const { account, recorded } = scene;
    const hash = base64(recorded.hash);
    const answers: [operation: string, query: Query][] = [
      ['messages', { destination: account, limit: 5 }],
      ['accountStates', { address: account, include_boc: false }],
      ['walletStates', { address: account }],
      ['traces', { tx_hash: hash }],
      ['events', { tx_hash: hash }],
      ['jetton/masters', { address: account }],
    ];
    for (const [operation, query] of answers) {
      const { metadata } = await get<{ metadata: Record<string, { token_info: Json[] }> }>(operation, query);
      expect([operation, metadata[account]?.token_info[0]?.['symbol']]).toEqual([operation, 'REAL']);
      const without = await get(operation, query, { 'x-no-metadata': 'true' });
      expect([operation, without['metadata']]).toEqual([operation, {}]);
    }
  });
});

// Calls of real clients, and the fields that they read (service/v3/README.md#clients).
describe('a wallet application', () => {
  it('shows an owner’s jettons with the names, signs and decimals of their masters', async () => {
    type Wallets = {
      jetton_wallets: { jetton: string; balance: string; address: string }[];
      metadata: Record<string, { is_indexed: boolean; token_info: Json[] }>;
    };
    const { jetton_wallets: wallets, metadata } = await get<Wallets>('jetton/wallets', {
      owner_address: rawAt('owner', 0),
      offset: 0,
      limit: 50,
      exclude_zero_balance: true,
    });
    const shown = wallets.map(({ jetton, balance }) => {
      const info = metadata[jetton]!.token_info.find(({ type }) => type === 'jetton_masters')!;
      const { decimals, uri, image_data: data } = info['extra'] as Json;
      return { balance, name: info['name'], symbol: info['symbol'], image: info['image'], decimals, uri, data };
    });
    expect(shown).toEqual([
      {
        balance: '5',
        name: 'On chain',
        symbol: 'ON',
        image: 'https://a/b.png',
        decimals: '6',
        uri: undefined,
        data: undefined,
      },
    ]);
  });

  it('looks a jetton up by its master, and an item by its address or its owner', async () => {
    const { jetton_masters: masters } = await get<{ jetton_masters: Json[] }>('jetton/masters', {
      address: rawAt('master', 0),
      offset: 0,
      limit: 1,
    });
    expect((masters[0]!['jetton_content'] as Json)['decimals']).toBe('6');
    type Items = { nft_items: Json[]; metadata: Record<string, { token_info: Json[] }> };
    const { nft_items: items, metadata } = await get<Items>('nft/items', {
      owner_address: rawAt('owner', 0),
      limit: 10,
      offset: 0,
    });
    expect(items.map(({ address }) => metadata[String(address)]!.token_info[0]!['name'])).toEqual(['Item 0']);
    expect(await get('nft/items', { address: [rawAt('owner', 0)] })).toMatchObject({ nft_items: [] });
  });
});

describe('a payment bot', () => {
  it('reads what came in since it looked last: who sent how much of what, and the comment', async () => {
    const { jetton_transfers: transfers } = await get<{ jetton_transfers: Json[] }>('jetton/transfers', {
      owner_address: rawAt('owner', 0),
      direction: 'in',
      start_utime: scene.recorded.utime - 60,
      limit: 100,
      sort: 'asc',
    });
    expect(
      transfers.map((one) => ({
        comment: (one['decoded_forward_payload'] as Json | null)?.['comment'],
        aborted: one['transaction_aborted'],
        amount: one['amount'],
        hash: one['transaction_hash'],
      })),
    ).toEqual([
      { comment: 'order 7', aborted: false, amount: (10n ** 20n).toString(), hash: base64(scene.recorded.hash) },
    ]);
    const later = { owner_address: rawAt('owner', 0), direction: 'in', start_utime: scene.recorded.utime + 1 };
    expect(await get('jetton/transfers', later)).toMatchObject({ jetton_transfers: [] });
  });
});
