import { describe, expect, it } from 'vitest';

import type { Change } from '#service/streaming/changes.ts';
import { changesFor } from '#service/streaming/concerned.ts';
import { account, action, hash, trace, transaction } from './hub/hub-under-test.ts';

const [a, b, c, d] = ['A', 'B', 'C', 'D'].map(account) as [string, string, string, string];

const changes: readonly Change[] = [
  trace(hash(1), { transactions: [transaction('t1', a), transaction('t2', a)], actions: [action('transfer', [a, b])] }),
  trace(hash(2), { hashes: [hash(2), hash(22)], transactions: [transaction('t3', b)] }),
  { kind: 'state', account: c, finality: 'finalized', position: null, state: { last_transaction_lt: null } },
  {
    kind: 'jetton',
    accounts: [c, a],
    named: [],
    finality: 'finalized',
    position: null,
    jetton: { last_transaction_lt: null },
  },
  { kind: 'invalidation', key: hash(1), reason: 'expired' },
];

const ordinalsFor = (accounts: readonly string[], traces: readonly string[] = []): number[] =>
  changesFor(changes, { accounts: new Set(accounts), traces: new Set(traces) }).map((one) => changes.indexOf(one));

describe('the changes of a block that concern a subscription', () => {
  it('are those of its accounts, once and in the order of the block', () => {
    expect(ordinalsFor([c, a])).toEqual([0, 2, 3]);
    expect(ordinalsFor([b])).toEqual([0, 1]);
    expect(ordinalsFor([d])).toEqual([]);
  });

  it('are the traces that it names by any of their hashes', () => {
    expect(ordinalsFor([], [hash(22), hash(1)])).toEqual([0, 1]);
    expect(ordinalsFor([], [hash(3)])).toEqual([]);
  });

  it('are the same for a subscription of many more accounts than the block has', () => {
    const many = Array.from({ length: 1000 }, (_, at) => `0:${at}`);
    expect(ordinalsFor([...many, c])).toEqual([2, 3]);
  });
});
