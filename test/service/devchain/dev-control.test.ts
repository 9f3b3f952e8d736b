import { Address, beginCell, toNano, type Cell } from '@ton/core';
import { describe, expect, it, onTestFinished } from 'vitest';

import { readAccount } from '#service/decode/tlb/account.ts';
import { findConfigParam } from '#service/decode/tlb/config-params.ts';
import { openMasterchainState } from '#service/devchain/collator/masterchain-state.ts';
import { createDemo, type Demo } from '#service/devchain/demo/demo.ts';
import { jettonWallet } from '#service/devchain/demo/tokens.ts';
import type { MethodName } from '#service/devchain/dev/method-table.ts';
import { createDevMethods } from '#service/devchain/dev/dev-methods.ts';
import { createFaucet } from '#service/devchain/production/faucet.ts';
import type { PrivateNetwork, PrivateNetworkOptions } from '#service/devchain/private-network.ts';
import { accountAt } from '#service/devchain/chain/snapshots.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { followMoney } from './money.ts';

type Answer = Record<string, string & number>;
type Scene = {
  readonly network: PrivateNetwork;
  readonly call: (method: MethodName, fields?: object) => Promise<Answer>;
};

async function start(options: PrivateNetworkOptions = {}): Promise<Scene> {
  const network = await startPrivateNetwork(options);
  onTestFinished(() => network.close());
  const faucet = createFaucet(network.faucet, { ...network, now: () => 0 });
  const methods = createDevMethods({ network, faucet });
  return { network, call: async (method, fields = {}) => (await methods[method]({ ...fields })) as Answer };
}

function stateOf(network: PrivateNetwork, address: string): ReturnType<typeof readAccount> {
  const { workChain: workchain, hash: id } = Address.parse(address);
  const found = accountAt(network.chain, network.head(), { workchain, id });
  return found && readAccount(network.chain.states, found.account);
}

/** Hash of the data of an active account. */
function dataHash(network: PrivateNetwork, address: string): string | undefined {
  const state = stateOf(network, address)?.state;
  return state?.kind === 'active' && state.init.data !== undefined
    ? network.chain.states.hash(state.init.data).toString('hex')
    : undefined;
}

const at = (byte: string, workchain = 0): string => `${workchain}:${byte.repeat(32)}`;
const base64 = (cell: Cell): string => cell.toBoc().toString('base64');

describe('an internal message in the name of an account', () => {
  it('moves a token as its owner, whose code, data and balance stay', async () => {
    const { network, call } = await start();
    const demo: Demo = await createDemo(network);
    const minter = demo['jetton minter']!;
    const owner = demo['wallet v4r2']!;
    const before = [dataHash(network, owner), stateOf(network, owner)?.balance.grams];
    const wallet = jettonWallet(Address.parse(minter), Address.parse(owner)).toRawString();
    const body = beginCell()
      .storeUint(0x0f8a_7ea5, 32)
      .storeUint(7, 64)
      .storeCoins(5n)
      .storeAddress(Address.parse(at('77')));
    body.storeAddress(null).storeBit(false).storeCoins(0n).storeBit(false);
    const walletBefore = dataHash(network, wallet);
    await call('dev_sendInternal', { from: owner, to: wallet, amount: '0.2', body: base64(body.endCell()) });
    expect(dataHash(network, wallet)).not.toBe(walletBefore);
    const theirs = jettonWallet(Address.parse(minter), Address.parse(at('77'))).toRawString();
    expect(stateOf(network, theirs)?.state.kind).toBe('active');
    expect([dataHash(network, owner), stateOf(network, owner)?.balance.grams]).toEqual(before);
    expect(followMoney(network.chain).filter(({ due, found }) => due !== found)).toEqual([]);
  });

  it('may come from an account that is not there, and from the masterchain', async () => {
    const { network, call } = await start();
    for (const from of [at('41'), at('42', -1)]) {
      await call('dev_sendInternal', { from, to: at('43'), amount: 2, bounce: false });
      expect(stateOf(network, from)).toBeUndefined();
    }
    expect(stateOf(network, at('43'))?.balance.grams).toBeGreaterThan(toNano('3.99'));
    // The same message can be sent again.
    await call('dev_sendInternal', { from: at('41'), to: at('43'), amount: 2, bounce: false });
    expect(stateOf(network, at('43'))?.balance.grams).toBeGreaterThan(toNano('5.99'));
  });
});

describe('dev_mintJetton', () => {
  it('gives jettons of the standard minter to an owner, and refuses what is no minter', async () => {
    const { network, call } = await start();
    const jetton = (await createDemo(network))['jetton minter']!;
    const first = await call('dev_mintJetton', { jetton, address: at('51'), amount: '1000' });
    const second = await call('dev_mintJetton', { jetton, address: at('51'), amount: 500 });
    expect(BigInt(second['supply']!) - BigInt(first['supply']!)).toBe(500n);
    const wallet = jettonWallet(Address.parse(jetton), Address.parse(at('51'))).toRawString();
    expect(stateOf(network, wallet)?.state.kind).toBe('active');
    const large = '9000000000000000000000000';
    expect(
      BigInt((await call('dev_mintJetton', { jetton, address: at('51'), amount: large }))['supply']!),
    ).toBeGreaterThan(BigInt(large));
    await expect(call('dev_mintJetton', { jetton, address: at('51'), amount: `${2n ** 120n}` })).rejects.toThrow(
      `amount: expected the smallest units, digits alone, at most ${2n ** 120n - 1n}`,
    );
    await expect(call('dev_mintJetton', { jetton: at('52'), address: at('51'), amount: 1 })).rejects.toThrow(
      'jetton: expected a jetton minter',
    );
  });
});

function parameterHash(network: PrivateNetwork, parameter: number): string | undefined {
  const { chain } = network;
  const cell = findConfigParam(
    chain.states,
    openMasterchainState(chain.states, network.head().state).config.root,
    parameter,
  );
  return cell === undefined ? undefined : chain.states.hash(cell).toString('hex');
}

describe('dev_setConfig', () => {
  it('sets and takes out a parameter, with a key block', async () => {
    const { network, call } = await start();
    const keyBlocks = network.chain.keyBlocks.length;
    const value = beginCell().storeUint(7, 32).endCell();
    await call('dev_setConfig', { parameter: 77, value: base64(value) });
    await call('dev_mine');
    expect(parameterHash(network, 77)).toBe(value.hash().toString('hex'));
    expect(network.chain.keyBlocks.length).toBeGreaterThan(keyBlocks);
    await call('dev_setConfig', { parameter: 77 });
    await call('dev_mine');
    expect(parameterHash(network, 77)).toBeUndefined();
  });

  it('refuses values with which no block could be made, and the validators', async () => {
    const { network, call } = await start();
    const value = base64(beginCell().storeUint(7, 32).endCell());
    for (const parameter of [20, 21, 22, 25, 28]) {
      await expect(call('dev_setConfig', { parameter, value })).rejects.toThrow(
        `value: expected a value that parameter ${parameter}`,
      );
    }
    await expect(call('dev_setConfig', { parameter: 34, value })).rejects.toThrow('parameter: expected none');
    await call('dev_mine', { blocks: 2 });
    expect(network.head().id.seqno).toBeGreaterThan(2);
  });
});

describe('the clock', () => {
  it('names the time of the next block, and says how far it is ahead', async () => {
    const { network, call } = await start();
    const utime = network.head().header.utime + 500;
    await call('dev_setNextBlockTime', { utime });
    expect((await call('dev_status'))['utime']).toBeLessThan(utime);
    expect((await call('dev_mine'))['utime']).toBe(utime);
    const advanced = await call('dev_advance', { seconds: 3600 });
    expect(advanced['aheadSeconds']).toBeGreaterThanOrEqual(3600);
    expect((await call('dev_status'))['utime']).toBeGreaterThanOrEqual(utime + 3600);
    await expect(call('dev_setNextBlockTime', { utime })).rejects.toThrow('utime: expected a whole number from');
  });
});

describe('snapshots', () => {
  it('have names, are listed, gone back to by name, and deleted', async () => {
    const { network, call } = await start();
    await call('dev_setBalance', { address: at('61'), balance: 5 });
    await call('dev_snapshot', { name: 'before' });
    await call('dev_snapshot');
    await call('dev_setBalance', { address: at('61'), balance: 6 });
    expect((await call('dev_snapshots'))['snapshots']).toMatchObject([
      { snapshot: 1, name: 'before' },
      { snapshot: 2 },
    ]);
    await call('dev_revert', { snapshot: 'before' });
    expect(stateOf(network, at('61'))?.balance.grams).toBe(5n);
    await call('dev_deleteSnapshot', { snapshot: 'before' });
    await expect(call('dev_revert', { snapshot: 'before' })).rejects.toThrow(
      'snapshot: expected one that dev_snapshot gave',
    );
    await expect(call('dev_snapshot', { name: '7' })).rejects.toThrow('name: expected 1 to 64 letters');
  });
});

describe('a dump', () => {
  it('brings accounts, contracts, libraries and configuration into another network, which goes on with them', async () => {
    const one = await start();
    const demo = await createDemo(one.network);
    await one.call('dev_setBalance', { address: at('71', -1), balance: 7 });
    await one.call('dev_setConfig', { parameter: 77, value: base64(beginCell().storeUint(9, 32).endCell()) });
    await one.call('dev_advance', { seconds: 86_400 });
    const { dump, accounts } = await one.call('dev_dump');
    const other = await start();
    await other.call('dev_setBalance', { address: at('72'), balance: 7 });
    await other.call('dev_load', { dump });
    expect(accounts).toBeGreaterThan(20);
    for (const address of [...Object.values(demo), at('71', -1)]) {
      expect([address, dataHash(other.network, address), stateOf(other.network, address)?.balance.grams]).toEqual([
        address,
        dataHash(one.network, address),
        stateOf(one.network, address)?.balance.grams,
      ]);
    }
    expect(stateOf(other.network, at('72'))).toBeUndefined();
    expect(other.network.head().header.utime).toBeGreaterThanOrEqual(one.network.head().header.utime);
    const { supply } = await other.call('dev_mintJetton', {
      jetton: demo['jetton minter'],
      address: at('71'),
      amount: 1,
    });
    expect(BigInt(supply!)).toBeGreaterThan(toNano('1004900'));
    expect(followMoney(other.network.chain).filter(({ due, found }) => due !== found)).toEqual([]);
  });

  it('leaves the global id of the network that loads it', async () => {
    const mainnet = await start({ globalId: -239 });
    const { dump } = await mainnet.call('dev_dump');
    const { network, call } = await start();
    const before = parameterHash(network, 19);
    await call('dev_load', { dump });
    expect(parameterHash(network, 19)).toBe(before);
  });

  it('of a snapshot is loaded into its own network too, and anything else is refused', async () => {
    const { network, call } = await start();
    await call('dev_setBalance', { address: at('73'), balance: 5 });
    await call('dev_snapshot', { name: 'five' });
    await call('dev_setBalance', { address: at('73'), balance: 6 });
    const { dump } = await call('dev_exportSnapshot', { snapshot: 'five' });
    await call('dev_load', { dump });
    expect(stateOf(network, at('73'))?.balance.grams).toBe(5n);
    for (const wrong of ['', 'aGk=', base64(beginCell().endCell())]) {
      await expect(call('dev_load', { dump: wrong })).rejects.toThrow('dump: expected a dump');
    }
  });
});

describe('dev_conditions', () => {
  it('sets what is given and ends the rest', async () => {
    const { call } = await start();
    expect(await call('dev_conditions', { delayMs: 5, failurePercent: 10 })).toEqual({
      delayMs: 5,
      failurePercent: 10,
      requestsPerSecond: 0,
    });
    expect(await call('dev_conditions')).toEqual({ delayMs: 0, failurePercent: 0, requestsPerSecond: 0 });
    await expect(call('dev_conditions', { failurePercent: 101 })).rejects.toThrow(
      'failurePercent: expected a whole number',
    );
  });
});
