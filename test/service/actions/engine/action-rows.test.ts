import type { Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import { accounts, bareBody, eventTrace, knownWallets, open } from '#test/support/event-traces.ts';
import { item, knownItem } from '#test/support/nft-traces.ts';

const [wallet, receiver] = accounts(2);

const renewal = open(0x4eb1f0f9).storeUint(0, 256).endCell();
const leave = bareBody(0x64737472);
const discovery = bareBody(0x2fcb26a2);
const report = open(0x8b771735).storeUint(7, 256).storeAddress(null).endCell();
const release = bareBody(0x4ed14b65);
const assigned = open(0x05138d91).storeAddress(null).storeBit(false).endCell();
const mint = open(0x642b7d07).storeAddress(null).storeCoins(0).endCell();
const dotTon = '0:B774D95EB20543F186C06B371AB88AD704F7E256130CAF96189368A7D0CB6CCF';

type Row = { readonly type: string; readonly accounts: readonly string[] };

function rowOf(type: string, actions: readonly Row[]): Row | undefined {
  return actions.find((one) => one.type === type);
}

describe('an operation that a message from outside began', () => {
  it.each<[string, Cell, Cell]>([
    ['renew_dns', renewal, bareBody(1)],
    ['unsubscribe', leave, leave],
    ['dns_release', release, bareBody(1)],
    ['nft_discovery', discovery, report],
  ])('names nobody who asked for it: %s', (type, order, answer) => {
    const trace = eventTrace(item, [{ to: receiver, body: answer }], order);
    const { actions } = classify(trace, knownItem({ nft: { collection: dotTon } }));
    expect(rowOf(type, actions)).toMatchObject({ source: null });
    expect(rowOf(type, actions)?.accounts).not.toContain('');
  });
});

describe('an operation that a log is told as', () => {
  it.each<[string, Cell, object]>([
    ['renew_dns', renewal, { source: item, destination: null }],
    ['unsubscribe', leave, { source: item, destinationSecondary: null }],
    ['nft_transfer', assigned, { assetSecondary: item, destination: null }],
    ['jetton_mint', mint, { asset: null }],
  ])('names nobody who got it: %s', (type, log, told) => {
    const trace = eventTrace(wallet, [{ to: item, body: bareBody(1), logs: [log] }]);
    const { actions } = classify(trace, type === 'nft_transfer' ? knownItem({}) : knownWallets({}));
    expect(rowOf(type, actions)).toMatchObject(told);
    expect(rowOf(type, actions)?.accounts).not.toContain('');
  });
});
