import { createHash } from 'node:crypto';

import { Address, Dictionary, beginCell, type Cell } from '@ton/core';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import { formatRawAddress, parseAddress } from '#service/decode/address.ts';
import { createDetector, type Detected, type DetectorOptions } from '#service/interfaces/detector.ts';
import type { AccountId } from '#service/live/accounts/accounts.ts';
import type { StackEntry } from '#service/tvm/stack.ts';
import { accountKey } from '#service/store/account-key.ts';
import {
  accountNumber,
  addressOf,
  cellEntry,
  changed,
  contentOf,
  int,
  nothing,
  scriptedWorld,
  sliceOf,
  type Contract,
} from './scripted-world.ts';

const accountOf = (raw: string): AccountId => parseAddress(raw)!;
const tonMainnet = accountOf('0:B774D95EB20543F186C06B371AB88AD704F7E256130CAF96189368A7D0CB6CCF');
const tonTestnet = accountOf('0:E33ED33A42EB2032059F97D90C706F8400BB256D32139CA707F1564AD699C7DD');
const telegram = accountOf('0:80D78A35F955A14B679FAA887FF4CD5BFC0F43B4A4EEA2A7E6927F3701B273C2');
const [item, owner, wallet, ownCollection] = [1, 2, 3, 4].map((byte) => accountNumber(byte));
const root = accountNumber(9, -1);

const bytes = (value: string): StackEntry => sliceOf(beginCell().storeBuffer(Buffer.from(value)).endCell());

const keyOf = (category: string): bigint => BigInt(`0x${createHash('sha256').update(category).digest('hex')}`);

/** Returns records by the names of their categories. */
function records(values: Record<string, Cell>): StackEntry {
  const dictionary = Dictionary.empty(Dictionary.Keys.BigUint(256), Dictionary.Values.Cell());
  for (const [category, value] of Object.entries(values)) dictionary.set(keyOf(category), value);
  return cellEntry(beginCell().storeDictDirect(dictionary).endCell());
}

const addressRecord = (tag: number, account: AccountId): Cell =>
  beginCell().storeUint(tag, 16).storeAddress(new Address(account.workchain, account.id)).storeUint(0, 8).endCell();

const walletRecord = (account: AccountId): Cell => addressRecord(0x9fd3, account);
const resolverRecord = (account: AccountId): Cell => addressRecord(0xba93, account);

/** Detects an item of a collection that knows it, with these further methods. */
async function detect(
  collection: AccountId,
  methods: Contract['methods'],
  options: DetectorOptions = { network: 'mainnet' },
  rootSays?: Contract['methods'][string],
): Promise<Detected> {
  const data = [int(-1), int(7), addressOf(collection), addressOf(owner!), cellEntry(contentOf('own'))];
  const contract = { methods: { get_nft_data: data, ...methods } };
  const collectionMethods = {
    get_nft_address_by_index: [addressOf(item!)],
    get_nft_content: [cellEntry(contentOf('whole'))],
  };
  const contracts: Record<string, Contract> = {
    [formatRawAddress(item!)]: contract,
    [formatRawAddress(collection)]: { methods: collectionMethods },
    ...(rootSays !== undefined && { [formatRawAddress(root)]: { methods: { dnsresolve: rootSays } } }),
  };
  const world = scriptedWorld(contracts, rootSays === undefined ? undefined : root);
  return (await createDetector(options, { register: new Registry() }).detect(world, changed(item!, contract)))!;
}

const resolving = (found: StackEntry, bits = 8): StackEntry[] => [int(bits), found];

describe('an item of the collection of .ton domains', () => {
  it('an item of the collection of .ton domains is a domain with its records', async () => {
    const adnl = beginCell().storeUint(0xad01, 16).storeUint(0xabc, 256).storeUint(0, 8).endCell();
    const bag = beginCell().storeUint(0x7473, 16).storeUint(0xdef, 256).endCell();
    const found = records({
      wallet: walletRecord(wallet!),
      dns_next_resolver: resolverRecord(owner!),
      site: adnl,
      storage: bag,
      text: beginCell().storeUint(0x1eda, 16).storeUint(0, 8).endCell(),
    });
    const { nftItem, dnsEntry, facts } = await detect(tonMainnet, {
      get_domain: [bytes('foo')],
      dnsresolve: resolving(found),
    });
    expect(nftItem!.content).toEqual({ uri: 'whole', domain: 'foo.ton' });
    expect(facts.nftItem!.content).toEqual({ uri: 'whole', domain: 'foo.ton' });
    expect(dnsEntry).toEqual({
      nft_item: accountKey(item!),
      nft_item_owner: accountKey(owner!),
      domain: 'foo.ton',
      next_resolver: accountKey(owner!),
      wallet: accountKey(wallet!),
      site_adnl: 'ABC'.padStart(64, '0'),
      storage_bag_id: 'DEF'.padStart(64, '0'),
      last_trans_lt: 1n,
    });
  });

  it.each<[string, StackEntry]>([
    ['nothing', nothing],
    ['records of other kinds', records({ wallet: resolverRecord(wallet!), site: walletRecord(wallet!) })],
    ['records of no known form', records({ wallet: beginCell().storeUint(7, 8).endCell() })],
  ])('an item that resolves to %s is an entry without records', async (_name, found) => {
    const { dnsEntry } = await detect(tonMainnet, { get_domain: [bytes('foo')], dnsresolve: resolving(found) });
    expect(dnsEntry).toMatchObject({ wallet: null, next_resolver: null, site_adnl: null, storage_bag_id: null });
  });

  it.each<[string, Contract['methods'][string]]>([
    ['fails', 9],
    ['resolves no bits', resolving(nothing, 0)],
    ['has a third value', [...resolving(nothing), nothing]],
    ['has records that are no dictionary', resolving(cellEntry(beginCell().storeUint(0b1111, 4).endCell()))],
  ])('an item whose resolver %s has its name and no entry', async (_name, dnsresolve) => {
    const { nftItem, dnsEntry } = await detect(tonMainnet, { get_domain: [bytes('foo')], dnsresolve });
    expect([nftItem!.content['domain'], dnsEntry]).toEqual(['foo.ton', undefined]);
  });

  it.each<[string, Contract['methods'][string]]>([
    ['fails', 9],
    ['is no slice', [int(1)]],
    ['is of no whole bytes', [sliceOf(beginCell().storeUint(1, 9).endCell())]],
    ['is no UTF-8', [sliceOf(beginCell().storeUint(0xff, 8).endCell())]],
    ['has a zero byte', [bytes('a\0b')]],
  ])('an item whose name %s is an ordinary item', async (_name, said) => {
    const { nftItem, dnsEntry } = await detect(tonMainnet, { get_domain: said, dnsresolve: resolving(nothing) });
    expect([nftItem!.content, dnsEntry]).toEqual([{ uri: 'whole' }, undefined]);
  });
});

/** Returns a root of names that delegates to these contracts. It delegates the rest of a name, or has them among the records of the whole. */
function rootOf(delegates: Record<string, AccountId>, isWhole: boolean): Contract['methods'][string] {
  return ([name]) => {
    const asked = name?.type === 'slice' ? Buffer.from(name.table.bytes).toString('latin1') : '';
    const [encoded, to] = Object.entries(delegates).find(([one]) => asked.includes(one)) ?? [];
    if (encoded === undefined || to === undefined) return [int(0), nothing];
    const record = resolverRecord(to);
    if (isWhole) return [int((encoded.length + 2) * 8), records({ dns_next_resolver: record })];
    return [int((encoded.length + 1) * 8), cellEntry(record)];
  };
}

describe('the collections of domains', () => {
  const domain = { get_domain: [bytes('foo')], dnsresolve: resolving(nothing) };
  const named = { get_full_domain: [bytes('me\0t\0foo\0')], dnsresolve: resolving(nothing) };

  it.each<[string, AccountId, Contract['methods'], DetectorOptions, string | undefined]>([
    ['.ton of the main network', tonMainnet, domain, { network: 'mainnet' }, 'foo.ton'],
    ['t.me of the main network', telegram, named, { network: 'mainnet' }, 'foo.t.me'],
    ['.ton of the test network', tonTestnet, domain, { network: 'testnet' }, 'foo.ton'],
    ['t.me in the test network', telegram, named, { network: 'testnet' }, undefined],
    ['.ton of the test network in the main network', tonTestnet, domain, { network: 'mainnet' }, undefined],
    ['.ton of the main network in a custom network', tonMainnet, domain, { network: 'custom' }, undefined],
    ['another collection', ownCollection!, domain, { network: 'mainnet' }, undefined],
    [
      'a configured collection',
      ownCollection!,
      domain,
      { network: 'custom', domainCollections: [{ collection: ownCollection!, zone: 'dev' }] },
      'foo.dev',
    ],
  ])('the zone of a collection is found or not: %s', async (_name, collection, methods, options, expected) => {
    const { nftItem, dnsEntry } = await detect(collection, methods, options);
    expect([nftItem!.content['domain'], dnsEntry?.domain]).toEqual([expected, expected]);
  });

  it.each<[string, AccountId, Contract['methods'], Record<string, AccountId>, boolean, string | undefined]>([
    ['ton', ownCollection!, domain, { ton: ownCollection! }, false, 'foo.ton'],
    ['ton, as a record of its own', ownCollection!, domain, { ton: ownCollection! }, true, 'foo.ton'],
    ['t.me', ownCollection!, named, { 'me\0t': ownCollection! }, false, 'foo.t.me'],
    ['ton to another collection', ownCollection!, domain, { ton: tonMainnet }, false, undefined],
    ['nothing', ownCollection!, domain, {}, false, undefined],
  ])(
    'a custom network has the collections that its root delegates to: %s',
    async (_name, collection, methods, delegates, isWhole, expected) => {
      const options: DetectorOptions = { network: 'custom' };
      const { nftItem } = await detect(collection, methods, options, rootOf(delegates, isWhole));
      expect(nftItem!.content['domain']).toBe(expected);
    },
  );

  it.each([9, []])('a custom network whose root returns %o has no collections', async (said) => {
    const { nftItem, dnsEntry } = await detect(ownCollection!, domain, { network: 'custom' }, said);
    expect([nftItem!.content, dnsEntry]).toEqual([{ uri: 'whole' }, undefined]);
  });
});
