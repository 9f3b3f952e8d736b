import { Address, beginCell, type Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { bareBody, type Step } from '#test/support/event-traces.ts';
import { buyer, item, itemActions, items, market, operation, owner } from '#test/support/nft-traces.ts';

const dotTon = '0:B774D95EB20543F186C06B371AB88AD704F7E256130CAF96189368A7D0CB6CCF';
const name = { nft: { collection: dotTon } };
const byCode = { nft: { codeHash: 'i1/8nr/TkGTY1fVuRlnIJrt1k5I/XKSHKL5NYK9vUfk=' } };
const release: Step = { to: item, body: operation(0x4ed14b65).endCell(), value: 5n };

describe('a name that is given back', () => {
  it.each([
    ['its collection', name, dotTon],
    ['its code', byCode, items],
  ])('is known by %s', (_what, known, asset) => {
    const [action] = itemActions(owner, [release], known);
    expect(action).toMatchObject({ type: 'dns_release', source: owner, destination: item, asset, value: 5n });
    expect(action).toMatchObject({ success: true, assetSecondary: null });
    expect(action?.data['nft_transfer_data']).toMatchObject({ query_id: 9n, nft_item_index: 7n, is_purchase: null });
  });

  it('needs no query id', () => {
    const body = beginCell().storeUint(0x4ed14b65, 32).endCell();
    const [action] = itemActions(owner, [{ ...release, body }], name);
    expect(action?.data['nft_transfer_data']).toMatchObject({ query_id: null });
  });

  it('may fail, and is no other item', () => {
    expect(itemActions(owner, [{ ...release, aborted: true }], name)).toMatchObject([{ success: false }]);
    expect(itemActions(owner, [release], { nft: {} })).toEqual([]);
  });
});

describe('a name that is bought', () => {
  const paid: Step = { to: dotTon, body: bareBody(0x370fec51), value: 100n };

  it('pays its price after the first call that follows its auction', () => {
    const [action] = itemActions(buyer, [{ to: item, body: bareBody(0x2fcb26a2), sends: [paid] }], name);
    expect(action).toMatchObject({ type: 'dns_purchase', source: null, destination: buyer, assetSecondary: item });
    expect(action?.data['nft_transfer_data']).toMatchObject({ price: 100n, payout_amount: 100n, is_purchase: true });
    expect(action?.parentActionId).toBeNull();
  });

  it('is bought by nobody when a plain transfer came before', () => {
    expect(itemActions(buyer, [{ to: item, body: beginCell().endCell(), sends: [paid] }], name)).toEqual([]);
  });
});

const change = (category: string, record?: Cell): Step => {
  const body = operation(0x4eb1f0f9).storeBuffer(Buffer.from(category, 'hex'));
  return { to: item, body: (record === undefined ? body : body.storeRef(record)).endCell() };
};
const record = (tag: number) => beginCell().storeUint(tag, 16);

describe('a record of a name', () => {
  const key = 'ab'.repeat(32);
  const bits = Buffer.alloc(32, 0x1f);
  const chunked = record(0x1eda)
    .storeUint(2, 8)
    .storeUint(2, 8)
    .storeBuffer(Buffer.from('a\0'))
    .storeRef(beginCell().storeUint(1, 8).storeBuffer(Buffer.from('b')).endCell())
    .endCell();

  it.each([
    ['DNSNextResolver', record(0xba93).storeAddress(Address.parse(market)).endCell(), market, null],
    ['DNSNextResolver', record(0xba93).storeAddress(null).endCell(), null, null],
    ['DNSSmcAddress', record(0x9fd3).storeAddress(Address.parse(market)).storeUint(1, 8).endCell(), market, 1],
    ['DNSAdnlAddress', record(0xad01).storeBuffer(bits).storeUint(0, 8).endCell(), bits.toString('hex'), 0],
    ['DNSStorageAddress', record(0x7473).storeBuffer(bits).endCell(), bits.toString('hex'), null],
    ['DNSText', chunked, 'ab', null],
    ['Unknown', record(0x1234).endCell(), null, null],
  ])('is written as %s', (schema, cell, value, flags) => {
    const [action] = itemActions(owner, [change(key, cell)], name);
    expect(action).toMatchObject({ type: 'change_dns', source: owner, destination: item, asset: dotTon });
    expect(action?.data).toEqual({ change_dns_record_data: { key, value_schema: schema, value, flags } });
  });

  it('is deleted by a change without a value', () => {
    const [action] = itemActions(owner, [change(key)], name);
    expect(action?.type).toBe('delete_dns');
    expect(action?.data).toEqual({ change_dns_record_data: { key, value_schema: null, value: null, flags: null } });
  });

  it('is none when a change names no category: the name lasts a year more', () => {
    const [action] = itemActions(owner, [change('00'.repeat(32))], name);
    expect(action).toMatchObject({ type: 'renew_dns', data: {} });
  });

  it('fails with what bounces', () => {
    const refused = { ...change(key), aborted: true, sends: [{ to: owner, body: bareBody(0xffffffff) }] };
    const [action] = itemActions(owner, [refused], name);
    expect(action).toMatchObject({ type: 'delete_dns', success: false });
    expect(action?.transactions).toHaveLength(3);
  });

  it('is no action when it is cut off', () => {
    expect(itemActions(owner, [change(key, record(0xad01).endCell())], name)).toEqual([]);
  });
});
