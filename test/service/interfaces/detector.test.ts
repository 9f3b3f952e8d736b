import { Address, Dictionary, beginCell } from '@ton/core';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import { formatRawAddress } from '#service/decode/address.ts';
import { createDetector, type Detected } from '#service/interfaces/detector.ts';
import type { AccountId } from '#service/live/accounts/accounts.ts';
import { methodIdOf } from '#service/tvm/method-id.ts';
import type { StackEntry } from '#service/tvm/stack.ts';
import { accountKey } from '#service/store/account-key.ts';
import { metric } from '../pool/network.ts';
import {
  accountNumber,
  addressOf,
  cellEntry,
  changed,
  contentOf,
  emptyCell,
  externalAddress,
  int,
  nothing,
  replaced,
  scriptedWorld,
  sliceOf,
  type Contract,
} from './scripted-world.ts';

const [self, master, owner, other] = [accountNumber(1), accountNumber(2), accountNumber(3), accountNumber(4)];
const raw = (account: AccountId): string => formatRawAddress(account, 'upper');
const at = (account: AccountId): string => formatRawAddress(account);

const code = cellEntry(beginCell().storeUint(0xc0de, 16).endCell());
const content = cellEntry(contentOf('https://example.org'));

function start(): { detector: ReturnType<typeof createDetector>; register: Registry } {
  const register = new Registry();
  return { detector: createDetector({ network: 'mainnet' }, { register }), register };
}

/** Detects `self` among these other contracts. */
async function detect(contract: Contract, others: Record<string, Contract> = {}): Promise<Detected | undefined> {
  const world = scriptedWorld({ [at(self)]: contract, ...others });
  return start().detector.detect(world, changed(self, contract));
}

function rowsOf(detected: Detected | undefined): string[] {
  return Object.keys(detected ?? {}).filter((name) => name !== 'facts' && name !== 'lastTransLt');
}

describe('an account', () => {
  it('an account whose code has no relevant method is not read', async () => {
    const contract = { methods: { seqno: [int(1)] } };
    const world = scriptedWorld({ [at(self)]: contract });
    const { detector, register } = start();
    expect(await detector.detect(world, changed(self, contract))).toBeUndefined();
    expect(await detector.detect(world, { account: self, codeHash: null, methods: null })).toBeUndefined();
    expect([world.read, world.asked]).toEqual([[], []]);
    expect(await metric(register, 'ton_interfaces_accounts_total', { result: 'impossible' })).toBe(2);
  });

  it('an account that has lost its code is nothing', async () => {
    const contract = { methods: { get_jetton_data: 9 }, code: null };
    expect(await detect(contract)).toEqual({ facts: {}, lastTransLt: 1n });
  });

  it('an account without data is nothing, whatever its code says', async () => {
    const contract = { methods: { get_collection_data: [int(0), content, addressOf(null)] }, data: null };
    expect(await detect(contract)).toEqual({ facts: {}, lastTransLt: 1n });
  });

  it('an account may be of several kinds', async () => {
    const contract = {
      methods: {
        get_jetton_data: [int(5), int(0), addressOf(null), content, code],
        get_collection_data: [int(7), content, addressOf(owner)],
      },
    };
    expect(rowsOf(await detect(contract))).toEqual(['nftCollection', 'jettonMaster']);
  });

  it('an account runs all methods in one visit', async () => {
    const contract = { methods: { get_wallet_data: 9, get_nft_data: 9, is_claimed: 9, get_order_data: 9, seqno: 9 } };
    const world = scriptedWorld({ [at(self)]: contract });
    await start().detector.detect(world, changed(self, contract));
    expect(world.asked).toHaveLength(1);
    const wanted = ['get_wallet_data', 'is_claimed', 'get_nft_data', 'get_order_data'].map(methodIdOf);
    expect(world.asked[0]!.methods).toEqual(wanted);
  });

  it('an account with an unreadable result is not of that kind', async () => {
    expect(await detect({ methods: { get_jetton_data: 'unreadable' } })).toEqual({ facts: {}, lastTransLt: 1n });
  });

  it('an account whose method returns very many entries is not of that kind', async () => {
    const stack = [int(7), content, addressOf(owner), ...Array.from({ length: 300 }, () => int(0))];
    expect(rowsOf(await detect({ methods: { get_collection_data: stack } }))).toEqual([]);
  });

  it('an account that cannot be read for now rejects with the reason', async () => {
    const contract = { methods: { get_jetton_data: 9 } };
    const failure = new Error('no lite server is usable');
    const world = { ...scriptedWorld({ [at(self)]: contract }), runMethods: () => Promise.reject(failure) };
    const { detector, register } = start();
    await expect(detector.detect(world, changed(self, contract))).rejects.toBe(failure);
    expect(await metric(register, 'ton_interfaces_accounts_total', { result: 'failed' })).toBe(1);
  });

  it('an account is judged by its code in the world', async () => {
    const contract = { methods: { get_collection_data: [int(7), content, addressOf(owner)] } };
    const world = scriptedWorld({ [at(self)]: contract });
    const before = { account: self, codeHash: Buffer.alloc(32), methods: [methodIdOf('get_wallet_data')] };
    const detected = await start().detector.detect(world, before);
    expect(detected?.nftCollection?.code_hash).toEqual(code.table.hash(code.cell));
  });
});

describe('code whose methods are not known', () => {
  const contract: Contract = { methods: { get_jetton_data: [int(5), int(0), addressOf(null), content, code] } };

  it('code of an unknown shape runs every method once, and then the methods it has', async () => {
    const world = scriptedWorld({ [at(self)]: contract, [at(other)]: contract });
    const { detector } = start();
    for (const account of [self, other]) {
      expect(rowsOf(await detector.detect(world, changed(account, contract, null)))).toEqual(['jettonMaster']);
    }
    expect(world.asked[0]!.methods.length).toBeGreaterThan(15);
    expect(world.asked[1]!.methods).toEqual([methodIdOf('get_jetton_data')]);
  });

  it('code without any of the methods costs nothing from the second account on', async () => {
    const none: Contract = { methods: {} };
    const world = scriptedWorld({ [at(self)]: none, [at(other)]: none });
    const { detector } = start();
    expect(await detector.detect(world, changed(self, none, null))).toEqual({ facts: {}, lastTransLt: 1n });
    expect(await detector.detect(world, changed(other, none, null))).toBeUndefined();
    expect([world.asked.length, world.read.length]).toEqual([1, 1]);
  });

  it.each([9, 11, 32])('code runs a method again that threw %i of its own', async (exitCode) => {
    const broken: Contract = { methods: { get_jetton_data: exitCode } };
    const world = scriptedWorld({ [at(self)]: broken, [at(other)]: contract });
    const { detector } = start();
    await detector.detect(world, changed(self, broken, null));
    expect(rowsOf(await detector.detect(world, changed(other, contract, null)))).toEqual(['jettonMaster']);
  });

  it('code of a known wallet runs no method', async () => {
    const world = scriptedWorld({});
    const codeHash = Buffer.from('hNr6RJ+Ypph3ibojI1gHK8D3bcRSQAKl0JGLmnXS1Zk=', 'base64');
    expect(await start().detector.detect(world, { account: self, codeHash, methods: null })).toBeUndefined();
    expect(world.read).toEqual([]);
  });
});

describe('a jetton master', () => {
  const stack = [int(1_000), int(-1), addressOf(owner), content, code];
  const contract = { methods: { get_jetton_data: stack } };

  it('a jetton master has a row with its values', async () => {
    const { jettonMaster, facts } = (await detect({ ...contract, transaction: 9 }))!;
    expect(jettonMaster).toMatchObject({
      address: accountKey(self),
      total_supply: 1_000n,
      mintable: true,
      admin: accountKey(owner),
      content: { uri: 'https://example.org' },
      last_trans_lt: 9n,
    });
    expect(jettonMaster!.wallet_code_hash).toEqual(beginCell().storeUint(0xc0de, 16).endCell().hash());
    expect(facts).toEqual({});
  });

  it.each([
    ['an empty cell', emptyCell],
    ['another form', beginCell().storeUint(7, 8).endCell()],
    ['an address that is no UTF-8', beginCell().storeUint(1, 8).storeUint(0xff, 8).endCell()],
  ])('a jetton master or collection whose content is %s has empty content, as in v2', async (_form, cell) => {
    const methods = {
      get_jetton_data: replaced(stack, 3, cellEntry(cell)),
      get_collection_data: [int(7), cellEntry(cell), addressOf(owner)],
    };
    const { jettonMaster, nftCollection } = (await detect({ methods }))!;
    expect([jettonMaster?.content, nftCollection?.content]).toEqual([{}, {}]);
  });

  it('a jetton master may have no admin, no more to mint, and entries on top', async () => {
    const poor = [...replaced(replaced(stack, 1, int(0)), 2, addressOf(null)), int(5), nothing];
    const { jettonMaster } = (await detect({ methods: { get_jetton_data: poor } }))!;
    expect(jettonMaster).toMatchObject({ mintable: false, admin: null });
  });

  it.each<[string, StackEntry[] | number]>([
    ['a supply that is no number', replaced(stack, 0, nothing)],
    ['no admin at all', replaced(stack, 2, nothing)],
    ['an admin in a cell', replaced(stack, 2, code)],
    ['an admin outside the chain', replaced(stack, 2, externalAddress)],
    ['content in a slice', replaced(stack, 3, sliceOf(contentOf('a')))],
    ['no code', replaced(stack, 4, nothing)],
    ['four entries', stack.slice(0, 4)],
    ['an exit code', 9],
  ])('an account is no jetton master with %s', async (_name, said) => {
    expect(rowsOf(await detect({ methods: { get_jetton_data: said } }))).toEqual([]);
  });
});

describe('a jetton wallet', () => {
  const stack = [int(5), addressOf(owner), addressOf(master), code];
  const wallet: Contract = { methods: { get_wallet_data: stack } };
  const masterSaying = (said: StackEntry[] | number): Record<string, Contract> => ({
    [at(master)]: { methods: { get_wallet_address: said } },
  });

  it('a jetton wallet is detected when its master names it as the wallet of its owner', async () => {
    const asked: (readonly StackEntry[])[] = [];
    const asking: Contract = {
      methods: {
        get_wallet_address: (args) => {
          asked.push(args);
          return [addressOf(self)];
        },
      },
    };
    const { jettonWallet, facts } = (await detect(wallet, { [at(master)]: asking }))!;
    expect(jettonWallet).toMatchObject({
      balance: 5n,
      owner: accountKey(owner),
      jetton: accountKey(master),
      mintless_is_claimed: null,
    });
    expect(facts).toEqual({ jettonWallet: { owner: raw(owner), jetton: raw(master) } });
    expect(asked[0]).toMatchObject([{ type: 'slice', startBit: 0, endBit: 267 }]);
  });

  it.each([
    ['another account', [addressOf(other)]],
    ['the same id in another workchain', [addressOf(accountNumber(1, -1))]],
    ['no account', [addressOf(null)]],
    ['its address in a cell', [cellEntry(beginCell().storeUint(0, 8).endCell())]],
    ['nothing', [] as StackEntry[]],
    ['that it fails', 9],
  ])('an account is no jetton wallet when its master says %s', async (_name, said) => {
    expect(rowsOf(await detect(wallet, masterSaying(said)))).toEqual([]);
  });

  it('an account is no jetton wallet without a master', async () => {
    expect(rowsOf(await detect(wallet))).toEqual([]);
  });

  it.each([
    ['no owner', replaced(stack, 1, addressOf(null))],
    ['no master', replaced(stack, 2, addressOf(null))],
    ['a balance that is no number', replaced(stack, 0, { type: 'nan' })],
    ['no code', replaced(stack, 3, nothing)],
  ])('an account is no jetton wallet with %s, and its master is not consulted', async (_name, said) => {
    const contract = { methods: { get_wallet_data: said } };
    const world = scriptedWorld({ [at(self)]: contract, ...masterSaying([addressOf(self)]) });
    expect(rowsOf(await start().detector.detect(world, changed(self, contract)))).toEqual([]);
    expect(world.asked).toHaveLength(1);
  });

  it.each([
    [[int(-1)], true],
    [[int(0)], false],
    [[nothing], null],
    [7, null],
  ] as const)('a jetton wallet whose is_claimed returns %o is claimed: %s', async (said, expected) => {
    const mintless: Contract = { methods: { ...wallet.methods, is_claimed: said } };
    const { jettonWallet } = (await detect(mintless, masterSaying([addressOf(self)])))!;
    expect(jettonWallet!.mintless_is_claimed).toBe(expected);
  });

  it('a jetton wallet is confirmed again when its master has a further transaction, or it has another owner', async () => {
    const { detector, register } = start();
    const look = async (said: StackEntry[], transaction: number, data = stack): Promise<string[]> => {
      const contract = { methods: { get_wallet_data: data } };
      const asked: Contract = { methods: { get_wallet_address: said }, transaction };
      const world = scriptedWorld({ [at(self)]: contract, [at(master)]: asked });
      return rowsOf(await detector.detect(world, changed(self, contract)));
    };
    expect(await look([addressOf(self)], 1)).toEqual(['jettonWallet']);
    expect(await look([addressOf(other)], 1)).toEqual(['jettonWallet']);
    expect(await look([addressOf(other)], 1, replaced(stack, 1, addressOf(other)))).toEqual([]);
    expect(await look([addressOf(self)], 1, replaced(stack, 1, addressOf(other)))).toEqual([]);
    expect(await look([addressOf(self)], 2)).toEqual(['jettonWallet']);
    expect(await metric(register, 'ton_interfaces_consultations_total', { source: 'memory' })).toBe(2);
    expect(await metric(register, 'ton_interfaces_consultations_total', { source: 'emulator' })).toBe(3);
    const unconfirmed = { kind: 'jetton_wallet', outcome: 'unconfirmed' };
    expect(await metric(register, 'ton_interfaces_detections_total', unconfirmed)).toBe(2);
  });
});

describe('an NFT item', () => {
  const stack = [int(-1), int(7), addressOf(master), addressOf(owner), cellEntry(contentOf('7.json'))];
  const item: Contract = { methods: { get_nft_data: stack } };
  const collection: Contract = {
    methods: {
      get_nft_address_by_index: ([index]) => (index?.type === 'int' && index.value === 7n ? [addressOf(self)] : 9),
      get_nft_content: ([index, own]) =>
        index?.type === 'int' && own?.type === 'cell' ? [cellEntry(contentOf(`whole ${index.value}`))] : 9,
    },
  };

  it('an NFT item has its content from its collection, which must know it', async () => {
    const world = scriptedWorld({ [at(self)]: item, [at(master)]: collection });
    const { nftItem, facts } = (await start().detector.detect(world, changed(self, item)))!;
    expect(nftItem).toMatchObject({
      address: accountKey(self),
      init: true,
      index: 7n,
      collection: accountKey(master),
      owner: accountKey(owner),
      content: { uri: 'whole 7' },
    });
    expect(facts.nftItem).toEqual({
      index: 7n,
      collection: raw(master),
      owner: raw(owner),
      content: { uri: 'whole 7' },
      codeHash: code.table.hash(code.cell).toString('base64'),
    });
    expect(world.asked).toHaveLength(2);
  });

  it.each([
    ['knows another account', { ...collection.methods, get_nft_address_by_index: [addressOf(other)] }],
    ['knows no item', { get_nft_content: collection.methods['get_nft_content']! }],
    ['has no content for it', { ...collection.methods, get_nft_content: 9 }],
  ])('an account is no NFT item when its collection %s', async (_name, methods) => {
    expect(rowsOf(await detect(item, { [at(master)]: { methods } }))).toEqual([]);
  });

  it('an NFT item whose collection has content outside of TEP-64 for it has empty content', async () => {
    const methods = { ...collection.methods, get_nft_content: [cellEntry(emptyCell)] };
    const { nftItem } = (await detect(item, { [at(master)]: { methods } }))!;
    expect(nftItem).toMatchObject({ address: accountKey(self), content: {} });
  });

  it('an account is no NFT item without the collection that it names', async () => {
    expect(rowsOf(await detect(item))).toEqual([]);
  });

  it('an NFT item without a collection has its own content, empty outside of TEP-64', async () => {
    const alone = replaced(stack, 2, addressOf(null));
    const { nftItem } = (await detect({ methods: { get_nft_data: replaced(alone, 3, addressOf(null)) } }))!;
    expect(nftItem).toMatchObject({ collection: null, owner: null, content: { uri: '7.json' } });
    const empty = { methods: { get_nft_data: replaced(alone, 4, cellEntry(emptyCell)) } };
    expect((await detect(empty))!.nftItem).toMatchObject({ collection: null, content: {} });
  });

  it('an item before its initialisation, without owner and content, is no NFT item yet', async () => {
    const young = replaced(replaced(stack, 3, nothing), 4, nothing);
    expect(rowsOf(await detect({ methods: { get_nft_data: young } }, { [at(master)]: collection }))).toEqual([]);
  });

  it('an NFT item is confirmed from the cache until its own content or its collection changes', async () => {
    const { detector, register } = start();
    const look = async (own: string, transaction: number): Promise<unknown> => {
      const contract = { methods: { get_nft_data: replaced(stack, 4, cellEntry(contentOf(own))) } };
      const world = scriptedWorld({ [at(self)]: contract, [at(master)]: { ...collection, transaction } });
      return (await detector.detect(world, changed(self, contract)))?.nftItem?.content;
    };
    for (const [own, transaction] of [
      ['a', 1],
      ['a', 1],
      ['b', 1],
      ['b', 2],
      ['b', 2],
    ] as const) {
      expect(await look(own, transaction)).toEqual({ uri: 'whole 7' });
    }
    expect(await metric(register, 'ton_interfaces_consultations_total', { source: 'emulator' })).toBe(3);
  });
});

function members(accounts: readonly AccountId[]): StackEntry {
  const dictionary = Dictionary.empty(Dictionary.Keys.Uint(8), Dictionary.Values.Address());
  accounts.forEach(({ workchain, id }, index) => dictionary.set(index * 3, new Address(workchain, id)));
  return cellEntry(beginCell().storeDictDirect(dictionary).endCell());
}

describe('a multisig', () => {
  const numbers = Dictionary.empty(Dictionary.Keys.Uint(8), Dictionary.Values.Uint(8)).set(1, 1);
  const stack = [int(2), int(2), members([owner, other, master]), nothing];

  it('a multisig has its signers and proposers in the order of their numbers', async () => {
    const { multisig } = (await detect({ methods: { get_multisig_data: stack } }))!;
    expect(multisig).toMatchObject({
      next_order_seqno: 2n,
      threshold: 2,
      signers: [owner, other, master].map(accountKey),
      proposers: [],
    });
  });

  it.each([
    ['signers that are no dictionary', replaced(stack, 2, cellEntry(beginCell().storeUint(0b11, 2).endCell()))],
    ['signers that are no accounts', replaced(stack, 2, cellEntry(beginCell().storeDictDirect(numbers).endCell()))],
    ['a threshold beyond 32 bits', replaced(stack, 1, int(2n ** 40n))],
    ['three entries', stack.slice(0, 3)],
  ])('an account is no multisig with %s', async (_name, said) => {
    expect(rowsOf(await detect({ methods: { get_multisig_data: said } }))).toEqual([]);
  });

  it('a multisig has the orders that it confirms', async () => {
    const order = [
      addressOf(master),
      int(4),
      int(2),
      int(-1),
      members([owner]),
      int(1),
      int(1),
      int(1_800_000_000),
      content,
    ];
    const contract = { methods: { get_order_data: order } };
    const confirming: Contract = {
      methods: {
        get_order_address: ([seqno]) => [addressOf(seqno?.type === 'int' && seqno.value === 4n ? self : other)],
      },
    };
    const { multisigOrder, facts } = (await detect(contract, { [at(master)]: confirming }))!;
    expect(multisigOrder).toMatchObject({
      multisig: accountKey(master),
      order_seqno: 4n,
      threshold: 2,
      sent_for_execution: true,
      approvals_mask: 1n,
      approvals_num: 1,
      expiration_date: 1_800_000_000n,
      signers: [accountKey(owner)],
    });
    expect(facts).toEqual({ multisigOrder: { signers: [raw(owner)] } });
    const another = { methods: { get_order_data: replaced(order, 1, int(5)) } };
    expect(rowsOf(await detect(another, { [at(master)]: confirming }))).toEqual([]);
  });
});
