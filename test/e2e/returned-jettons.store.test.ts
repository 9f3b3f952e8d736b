import type { Address, Cell, MessageRelaxed } from '@ton/core';
import { beginCell, internal } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { jettonBurnBody, jettonMinter, jettonTransferBody, jettonWallet } from '#service/devchain/demo/tokens.ts';
import { mintBody, nftCollection, nftItem, nftMintBody, nftTransferBody } from '#service/devchain/demo/tokens.ts';
import { createDevMethods } from '#service/devchain/dev/dev-methods.ts';
import type { MethodName } from '#service/devchain/dev/method-table.ts';
import { createFaucet } from '#service/devchain/production/faucet.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { INTERPRETATION_VERSION } from '#service/interpreter/options.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { untilInterpreted } from '#test/service/interpreter/interpreter-under-test.ts';
import { startApiOver } from '#test/support/api.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { testWallet } from '#test/support/wallet.ts';

type Json = Record<string, unknown>;

const owner = testWallet(Buffer.alloc(32, 0x1a));
const friend = testWallet(Buffer.alloc(32, 0x1b));
const minter = jettonMinter(owner.address);
const collection = nftCollection(owner.address);
const item = nftItem(collection.address, 0);
const [ownJettons, friendJettons] = [owner, friend].map(({ address }) => jettonWallet(minter.address, address)) as [
  Address,
  Address,
];
const raw = (address: Address): string => address.toRawString().toUpperCase();
const message = (to: Address, body: Cell): MessageRelaxed => internal({ to, value: 200_000_000n, bounce: true, body });
const boc = (cell: Cell): string => cell.toBoc().toString('base64');

const order = (amount: bigint): MessageRelaxed =>
  message(ownJettons, jettonTransferBody(friend.address, owner.address, amount, 'deposit'));

/** The most that a wallet can hold: one unit more does not fit, and the wallet throws. */
const fullWallet = beginCell()
  .storeCoins(2n ** 120n - 1n)
  .storeAddress(friend.address)
  .storeAddress(minter.address)
  .storeRef(minter.init.data!.refs[1]!)
  .endCell();
/** `35 THROW` for every message. */
const throwing = beginCell().storeUint(0xf223, 16).endCell();
/** A minter that has issued nothing cannot take anything back. */
const emptyMinter = minter.init.data!;

describe('jettons that the next contract refuses', () => {
  let network: PrivateNetwork;
  let index: StoreUnderTest;
  let api: Awaited<ReturnType<typeof startApiOver>>;
  let call: (method: string, fields?: object) => Promise<Json>;
  let seqno = 0;

  async function send(...messages: MessageRelaxed[]): Promise<void> {
    network.send(owner.send(seqno, messages, { deploy: seqno === 0 }));
    seqno += 1;
    for (let step = 0; step < 6; step++) {
      await network.step();
      // Each block is told by itself: the transfer before its refusal.
      if (seqno > 2) await untilIndexed(index.store, network.head().id.seqno);
    }
    await untilIndexed(index.store, network.head().id.seqno);
    await untilInterpreted(index.store, INTERPRETATION_VERSION);
  }

  async function ask(path: string): Promise<Json> {
    const response = await fetch(`${api.api.url}/api/v3/${path}`, { headers: { 'x-api-key': api.key } });
    expect(response.status).toBe(200);
    return (await response.json()) as Json;
  }

  const actionsOf = async (trace: unknown): Promise<unknown> =>
    ((await ask(`actions?trace_id=${encodeURIComponent(String(trace))}`))['actions'] as Json[])
      .filter(({ type }) => type !== 'ton_transfer')
      .map(({ type, success }) => [type, success]);

  beforeAll(async () => {
    network = await startPrivateNetwork();
    const methods = createDevMethods({ network, faucet: createFaucet(network.faucet, { ...network, now: () => 0 }) });
    call = async (method, fields = {}) => (await methods[method as MethodName]({ ...fields })) as Json;
    index = await createMigratedStore(import.meta.filename);
    api = await startApiOver(network, { postgresUrl: index.url, writesIndex: true });
    await call('dev_setBalance', { address: raw(owner.address), balance: '100000000000' });
    await send(
      internal({ to: minter.address, value: 200_000_000n, bounce: false, init: minter.init }),
      internal({ to: collection.address, value: 200_000_000n, bounce: false, init: collection.init }),
    );
    await send(
      message(minter.address, mintBody(minter.address, owner.address, 1000n)),
      message(minter.address, mintBody(minter.address, friend.address, 1n)),
      message(collection.address, nftMintBody(0, owner.address)),
    );
  });
  afterAll(async () => {
    await api.close();
    await index.close();
  });

  const transfersTo = (direction: string): Promise<Json> =>
    ask(`jetton/transfers?owner_address=${raw(friend.address)}&direction=${direction}`);

  it.each([
    ['a wallet that throws', 6n, () => call('dev_setData', { address: raw(friendJettons), data: boc(fullWallet) })],
    ['what is no wallet', 7n, () => call('dev_setCode', { address: raw(friendJettons), code: boc(throwing) })],
  ])('are no transfer that came in: %s', async (_what, amount, spoil) => {
    const { snapshot } = await call('dev_snapshot');
    await spoil();
    await send(order(amount));
    const { jetton_transfers: sent } = await ask(
      `jetton/transfers?owner_address=${raw(owner.address)}&direction=out&limit=1`,
    );
    expect(sent).toMatchObject([{ amount: String(amount), transaction_aborted: true }]);
    expect(await transfersTo('in')).toMatchObject({ jetton_transfers: [] });
    expect(await ask(`jetton/wallets?address=${raw(ownJettons)}`)).toMatchObject({
      jetton_wallets: [{ balance: '1000' }],
    });
    expect(await actionsOf((sent as Json[])[0]!['trace_id'])).toEqual([['jetton_transfer', false]]);
    await call('dev_revert', { snapshot });
    seqno -= 1;
  });

  it('are a transfer that came in once the receiver takes them', async () => {
    await send(order(8n));
    expect(await transfersTo('in')).toMatchObject({ jetton_transfers: [{ amount: '8', transaction_aborted: false }] });
  });

  it('are a burn that came to nothing', async () => {
    await call('dev_setData', { address: raw(minter.address), data: boc(emptyMinter) });
    await send(message(ownJettons, jettonBurnBody(5n, owner.address)));
    const { jetton_burns: burns } = await ask(`jetton/burns?address=${raw(owner.address)}`);
    expect(burns).toMatchObject([{ amount: '5', transaction_aborted: true }]);
    expect(await actionsOf((burns as Json[])[0]!['trace_id'])).toEqual([['jetton_burn', false]]);
  });

  it('are like an item whose contract refuses to be transferred', async () => {
    const wrong = nftTransferBody(friend.address, owner.address);
    await call('dev_setData', {
      address: raw(item),
      data: boc(
        beginCell()
          .storeUint(0, 64)
          .storeAddress(collection.address)
          .storeAddress(friend.address)
          .storeRef(beginCell().storeStringTail('0.json').endCell())
          .endCell(),
      ),
    });
    await send(message(item, wrong));
    const query = `nft/transfers?owner_address=${raw(friend.address)}`;
    expect(await ask(query)).toMatchObject({ nft_transfers: [{ transaction_aborted: true }] });
    expect(await ask(`${query}&direction=in`)).toMatchObject({ nft_transfers: [] });
  });
});
