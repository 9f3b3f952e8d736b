import { describe, expect, it } from 'vitest';

import type { Change, StateChange, TraceSnapshot } from '#service/streaming/changes.ts';
import { decodeChange, decodeHead, encodeRecord } from '#service/streaming/levels/record-codec.ts';
import { account, hash, trace, transaction } from '../hub/hub-under-test.ts';

const a = account('A');
const behind = { mcSeqno: 7, index: 2 };

const swap = { action_id: 'swap', type: 'jetton_swap', accounts: [a] };

const snapshot: TraceSnapshot = trace(hash(1), {
  position: { mcSeqno: 8, index: 1 },
  stage: 'first',
  transactions: [transaction('t1', a, { lt: '1' }), transaction('t2', a)],
  fresh: new Set(['t2']),
  actions: [
    {
      type: 'jetton_swap',
      ancestorTypes: ['auction_bid'],
      accounts: [a],
      named: [a],
      viewFor: (supported) => (supported.has('jetton_swap') && !supported.has('auction_bid') ? swap : null),
    },
    { type: 'hidden', ancestorTypes: ['hidden'], accounts: [], named: [], viewFor: () => null },
  ],
});

const state: StateChange = {
  kind: 'state',
  account: a,
  finality: 'confirmed',
  position: null,
  state: { balance: '1', last_transaction_lt: '7' },
};

function signed(seqno: number, text: string): TraceSnapshot {
  const transactions = [transaction('t1', a, { mc_block_seqno: seqno, text })];
  return trace(hash(1), { finality: 'confirmed', transactions });
}

async function comparisonOf(change: Change): Promise<object> {
  const { thing, level, print, isReset } = (await encodeRecord(change, null))!;
  return { thing, level, print, isReset };
}

describe('records of the shared log', () => {
  it('have all of a trace, and show its actions to the same vocabularies', async () => {
    const record = await encodeRecord(snapshot, behind);
    const read = (await decodeChange(record!.body, 'trace')) as TraceSnapshot;
    expect({ ...read, actions: [] }).toEqual({ ...snapshot, actions: [] });
    const [action, ...others] = read.actions;
    expect(others).toEqual([]);
    expect(action).toMatchObject({ type: 'jetton_swap', accounts: [a], named: [a] });
    for (const types of [['jetton_swap'], ['jetton_swap', 'auction_bid'], ['auction_bid'], []]) {
      const supported = new Set(types);
      expect(action!.viewFor(supported)).toEqual(snapshot.actions[0]!.viewFor(supported));
    }
  });

  it('are left out when their bytes or heads are those of another writer', async () => {
    const { body } = (await encodeRecord(snapshot, behind))!;
    expect(await decodeChange(Buffer.from('garbage'), 'trace')).toBeUndefined();
    expect(await decodeChange(body.subarray(0, -5), 'trace')).toBeUndefined();
    expect(await decodeChange(body, 'state')).toBeUndefined();
    for (const lt of ['', '-1', 'seven', 7, undefined]) {
      const { body: strange } = (await encodeRecord(
        { ...state, state: { ...state.state, last_transaction_lt: lt as string } },
        null,
      ))!;
      expect(await decodeChange(strange, 'state')).toBeUndefined();
    }
    expect(await decodeChange((await encodeRecord(state, null))!.body, 'state')).toEqual(state);
    expect(() => decodeHead('garbage')).toThrow('JSON');
    expect(() => decodeHead('null')).toThrow('null');
    expect(() => decodeHead('{}')).toThrow('undefined');
    expect(() => decodeHead('{"head":{"kind":"trace"}}')).toThrow('no names');
  });

  it('of one content are equal whichever masterchain block their pods saw last', async () => {
    const comment = '"mc_block_seqno":1';
    expect(await comparisonOf(signed(7, comment))).toEqual(await comparisonOf(signed(8, comment)));
    expect(await comparisonOf(signed(7, comment))).not.toEqual(await comparisonOf(signed(7, '"mc_block_seqno":2')));
  });

  it('of a withdrawal are the same for readers of the former version, which named no snapshot', async () => {
    const former: Change = { kind: 'invalidation', key: hash(1), reason: 'expired' };
    const withdraws = { level: 'pending', epoch: 7, number: 3 } as const;
    const [plain, named] = [await encodeRecord(former, behind), await encodeRecord({ ...former, withdraws }, behind)];
    expect({ ...named, withdraws: null }).toEqual(plain);
    expect(named!.withdraws).toEqual(withdraws);
    expect(await decodeChange(named!.body, 'invalidation')).toEqual(former);
  });

  it('have in their heads what finds them, and the position of their pod', async () => {
    const { head } = (await encodeRecord(snapshot, behind))!;
    expect(decodeHead(head)).toEqual({
      behind,
      head: {
        kind: 'trace',
        key: hash(1),
        names: [hash(1)],
        accounts: [a],
        finality: 'finalized',
        position: snapshot.position,
      },
    });
  });

  it('are compared by content within a level of a trace, and as states within an account', async () => {
    const pending = { ...snapshot, finality: 'pending', position: null } as const;
    expect(await comparisonOf(pending)).toEqual(await comparisonOf({ ...pending, hashes: [...pending.hashes] }));
    expect(await comparisonOf({ ...pending, isIncomplete: true })).not.toEqual(await comparisonOf(pending));
    expect(await comparisonOf(pending)).toMatchObject({ thing: `trace:${hash(1)}`, level: 'pending', isReset: false });
    expect(await comparisonOf({ kind: 'invalidation', key: hash(1), reason: 'expired' })).toEqual({
      thing: `trace:${hash(1)}`,
      level: 'reset',
      print: 'expired',
      isReset: true,
    });
    expect(await comparisonOf(state)).toMatchObject({ thing: `state:${a}`, isReset: false });
    expect(await comparisonOf({ ...state, finality: 'finalized', isCorrection: true })).toMatchObject({
      isReset: true,
    });
  });
});
