import type { Address, MessageRelaxed } from '@ton/core';
import { Cell, beginCell, internal } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { jettonBurnBody, jettonMinter, jettonTransferBody, jettonWallet } from '#service/devchain/demo/tokens.ts';
import { mintBody, nftCollection, nftItem, nftMintBody, nftTransferBody } from '#service/devchain/demo/tokens.ts';
import type { MethodName } from '#service/devchain/dev/method-table.ts';
import { createDevMethods } from '#service/devchain/dev/dev-methods.ts';
import { createFaucet } from '#service/devchain/production/faucet.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { INTERPRETATION_VERSION } from '#service/interpreter/options.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { meaningHashes, tableHashes } from '#test/service/indexer/table-hashes.ts';
import { untilInterpreted } from '#test/service/interpreter/interpreter-under-test.ts';
import { startApiOver } from '#test/support/api.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { testWallet } from '#test/support/wallet.ts';

type Json = Record<string, unknown>;

const owner = testWallet(Buffer.alloc(32, 0x0a));
const friend = testWallet(Buffer.alloc(32, 0x0b));
const minter = jettonMinter(owner.address);
const collection = nftCollection(owner.address);
const item = nftItem(collection.address, 0);
const [ownJettons, friendJettons] = [owner, friend].map(({ address }) => jettonWallet(minter.address, address)) as [
  Address,
  Address,
];
const raw = (address: Address): string => address.toRawString().toUpperCase();
const message = (to: Address, body: Cell, tons = 0.2): MessageRelaxed =>
  internal({ to, value: BigInt(tons * 1e9), bounce: true, body });
const boc = (cell: Cell): string => cell.toBoc().toString('base64');

/** Data of a jetton wallet with another balance. */
const walletData = (balance: bigint, { address }: typeof owner): Cell =>
  beginCell()
    .storeCoins(balance)
    .storeAddress(address)
    .storeAddress(minter.address)
    .storeRef(minter.init.data!.refs[1]!)
    .endCell();

describe('changes of accounts that no transaction explains', () => {
  let network: PrivateNetwork;
  let index: StoreUnderTest;
  let api: Awaited<ReturnType<typeof startApiOver>>;
  let call: (method: string, fields?: object) => Promise<Json>;
  const seqnos = new Map([owner, friend].map((wallet) => [wallet, 0]));

  async function settle(): Promise<void> {
    for (let step = 0; step < 6; step++) await network.step();
  }

  async function send(from: typeof owner, ...messages: MessageRelaxed[]): Promise<void> {
    const seqno = seqnos.get(from)!;
    seqnos.set(from, seqno + 1);
    network.send(from.send(seqno, messages, { deploy: seqno === 0 }));
    await settle();
  }

  async function settled({ store }: StoreUnderTest): Promise<void> {
    await untilIndexed(store, network.head().id.seqno);
    await untilInterpreted(store, INTERPRETATION_VERSION);
  }

  async function ask(path: string, over = api): Promise<Json> {
    const response = await fetch(`${over.api.url}/api/v3/${path}`, { headers: { 'x-api-key': over.key } });
    expect(response.status).toBe(200);
    return (await response.json()) as Json;
  }

  const accounts = [owner.address, friend.address, minter.address, ownJettons, collection.address, item];
  const states = accounts.map((account) => `address=${encodeURIComponent(raw(account))}`).join('&');
  const lists = [
    `accountStates?${states}`,
    `walletStates?${states}`,
    `addressBook?${states}`,
    `metadata?${states}`,
    'jetton/masters',
    'jetton/wallets?sort=desc',
    'nft/collections',
    'nft/items',
  ];
  const answers = async (over = api): Promise<Json> =>
    Object.fromEntries(await Promise.all(lists.map(async (path) => [path, await ask(path, over)])));

  beforeAll(async () => {
    network = await startPrivateNetwork();
    const faucet = createFaucet(network.faucet, { ...network, now: () => 0 });
    const methods = createDevMethods({ network, faucet });
    call = async (method, fields = {}) => (await methods[method as MethodName]({ ...fields })) as Json;
    index = await createMigratedStore(import.meta.filename);
    api = await startApiOver(network, { postgresUrl: index.url, writesIndex: true });
    for (const { address } of [owner, friend]) {
      await call('dev_setBalance', { address: raw(address), balance: '100000000000' });
    }
    await send(
      owner,
      { ...internal({ to: minter.address, value: 200_000_000n, bounce: false, init: minter.init }) },
      { ...internal({ to: collection.address, value: 200_000_000n, bounce: false, init: collection.init }) },
    );
    await send(
      owner,
      message(minter.address, mintBody(minter.address, owner.address, 1000n)),
      message(collection.address, nftMintBody(0, owner.address)),
    );
  });
  afterAll(async () => {
    await api.close();
    await index.close();
  });

  it('are shown by v3 as of the block that has them', async () => {
    const nobody = `0:${'7A'.repeat(32)}`;
    await call('dev_setBalance', { address: nobody, balance: '12345' });
    await call('dev_setData', { address: raw(ownJettons), data: boc(walletData(777n, owner)) });
    await settled(index);
    const { accounts: shown } = await ask(`accountStates?address=${nobody}`);
    expect(shown).toMatchObject([{ balance: '12345', status: 'uninit', last_transaction_lt: '0' }]);
    const data = ((await ask(`accountStates?address=${raw(ownJettons)}`))['accounts'] as Json[])[0]!['data_boc'];
    expect(Cell.fromBase64(String(data)).hash()).toEqual(walletData(777n, owner).hash());
    expect(await ask(`jetton/wallets?address=${raw(ownJettons)}`)).toMatchObject({
      jetton_wallets: [{ address: raw(ownJettons), balance: '777' }],
    });
  });

  it('that make a contract something else take it out of the lists of what it was', async () => {
    await call('dev_setCode', { address: raw(item), code: boc(owner.init.code) });
    await settled(index);
    expect(await ask('nft/items')).toMatchObject({ nft_items: [] });
    await call('dev_setCode', { address: raw(item), code: boc(collection.init.data!.refs[1]!) });
    await settled(index);
    expect(await ask('nft/items')).toMatchObject({ nft_items: [{ address: raw(item) }] });
  });

  it('go back to a snapshot in all of v3, in an index that follows and in a later one', async () => {
    await settled(index);
    const { snapshot } = await call('dev_snapshot');
    await settled(index);
    const before = await answers();
    const number = seqnos.get(owner)!;
    const newcomer = testWallet(Buffer.alloc(32, 0x0c));
    const secondMinter = jettonMinter(friend.address);
    await call('dev_setBalance', { address: raw(newcomer.address), balance: '5000000000' });
    seqnos.set(newcomer, 0);
    await send(owner, message(ownJettons, jettonTransferBody(friend.address, owner.address, 70n, 'one')));
    await send(owner, message(ownJettons, jettonBurnBody(7n, owner.address)));
    await send(owner, message(item, nftTransferBody(friend.address, owner.address)));
    await send(owner, message(minter.address, mintBody(minter.address, newcomer.address, 5n)));
    await send(owner, message(collection.address, nftMintBody(1, newcomer.address)));
    await send(friend, message(friendJettons, jettonTransferBody(newcomer.address, friend.address, 7n, 'two')));
    await send(newcomer, internal({ to: secondMinter.address, value: 100n, bounce: false, init: secondMinter.init }));
    await call('dev_setCode', { address: raw(minter.address), code: boc(owner.init.code) });
    await call('dev_setData', { address: raw(friendJettons), data: boc(walletData(9n, friend)) });
    await call('dev_setBalance', { address: raw(friend.address), balance: '1' });
    await settled(index);
    expect(await answers()).not.toEqual(before);

    await call('dev_revert', { snapshot });
    await settled(index);
    expect(await answers()).toEqual(before);
    expect(await ask(`accountStates?address=${raw(friendJettons)}`)).toMatchObject({
      accounts: [{ status: 'nonexist', balance: '0', last_transaction_lt: '0' }],
    });
    const fresh = await createMigratedStore(import.meta.filename);
    const later = await startApiOver(
      { globalConfig: () => network.globalConfig(), close: async () => {} },
      { postgresUrl: fresh.url, writesIndex: true },
    );
    try {
      await settled(fresh);
      expect(await tableHashes(fresh.store)).toEqual(await tableHashes(index.store));
      expect(await meaningHashes(fresh.store)).toEqual(await meaningHashes(index.store));
      expect(await answers(later)).toEqual(await answers());
    } finally {
      await later.close();
      await fresh.close();
    }

    seqnos.set(owner, number);
    await send(owner, message(ownJettons, jettonTransferBody(friend.address, owner.address, 30n, 'again')));
    await settled(index);
    expect(await ask(`jetton/wallets?address=${raw(friendJettons)}`)).toMatchObject({
      jetton_wallets: [{ balance: '30' }],
    });
  });
});
