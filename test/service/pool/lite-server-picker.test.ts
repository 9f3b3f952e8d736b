import { describe, expect, test } from 'vitest';

import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import { functionNamed } from '#service/liteserver/function-table.ts';
import { accessText } from '#service/pool/read-access.ts';
import type { ReadAccess } from '#service/pool/read-access.ts';
import { createPicker } from '#service/pool/lite-server-picker.ts';
import type { Requirement } from '#service/pool/lite-server-picker.ts';
import type { LiteServerUse } from '#service/pool/member.ts';
import { buildMember } from './member-builder.ts';
import { seededRandom } from './workload.ts';

const headSeqno = 100_000;
const ascending = (a: number, b: number): number => a - b;
const block = (seqno: number) => ({
  workchain: MASTERCHAIN,
  shard: FULL_SHARD,
  seqno,
  rootHash: Buffer.alloc(32),
  fileHash: Buffer.alloc(32),
});

/** Creates a choice over lite servers that all are in and have the head. */
function choiceOver(uses: readonly Partial<LiteServerUse>[], nowMs = { value: 0 }) {
  const members = uses.map((use, index) => {
    const member = buildMember({ index, now: () => nowMs.value });
    member.reported({ block: block(headSeqno), stateRootHash: Buffer.alloc(32) });
    member.adjust(use);
    return member;
  });
  const choice = createPicker({ members, headSeqno: () => headSeqno, now: () => nowMs.value, random: seededRandom(3) });
  return { members, choice };
}

function wantedFor(name: string, args: unknown, access?: ReadAccess): Requirement {
  const fn = functionNamed(name)!;
  return {
    methodClass: fn.cost,
    masterchainSeqno: undefined,
    depth: fn.depth(args),
    places: fn.positions(args),
    access,
    isUrgent: false,
  };
}

/** Returns the servers in the order in which they are asked when each one fails. */
function orderOf(choice: ReturnType<typeof choiceOver>['choice'], wanted: Requirement): number[] {
  const tried = new Set<number>();
  for (;;) {
    const next = choice.next(wanted, tried);
    if (next === undefined) return [...tried];
    tried.add(next.index);
  }
}

const recent = { id: block(headSeqno - 5), mode: 0 };
const old = { id: block(500), mode: 0 };
const plan = (archive: boolean, ...liteServerTiers: string[]): ReadAccess => ({ archive, liteServerTiers });

describe('a plan', () => {
  const tiers = [{ tier: 'shared' }, { tier: 'private' }, { tier: 'shared' }] as const;

  test.each<[ReadAccess | undefined, number[]]>([
    [plan(true, 'shared'), [0, 2]],
    [plan(true, 'private'), [1]],
    [plan(true, 'shared', 'private'), [0, 1, 2]],
    [undefined, [0, 1, 2]],
    [plan(true), []],
  ])('a plan with %o uses lite servers of its tiers alone', (access, expected) => {
    const { choice } = choiceOver(tiers);
    for (const wanted of [wantedFor('getBlockHeader', recent, access), wantedFor('sendMessage', {}, access)])
      expect(orderOf(choice, wanted).toSorted(ascending)).toEqual(expected);
  });

  test('a plan without archive uses an archive server when no other is left, for recent data', () => {
    const { choice } = choiceOver([{ role: 'archive' }, {}, {}]);
    const ordered = (name: string, args: unknown, archive: boolean) =>
      orderOf(choice, wantedFor(name, args, plan(archive, 'shared')));
    expect(ordered('getBlockHeader', recent, false).at(-1)).toBe(0);
    expect(ordered('sendMessage', {}, false)).toHaveLength(3);
    expect(ordered('getBlockHeader', old, false).toSorted(ascending)).toEqual([1, 2]);
    expect(
      ordered('getTransactions', { account: { workchain: 0, id: Buffer.alloc(32) }, lt: 1n }, false).toSorted(
        ascending,
      ),
    ).toEqual([1, 2]);
    expect(ordered('getBlockHeader', old, true).toSorted(ascending)).toEqual([0, 1, 2]);
  });

  test('a plan without archive reaches as far back as the other servers', () => {
    const { members, choice } = choiceOver([{ role: 'archive' }, {}]);
    members[1]!.reaches('masterchainBlock', { masterchain: 400, shard: 0 });
    expect(orderOf(choice, wantedFor('getBlockHeader', old, plan(false, 'shared')))).toEqual([1, 0]);
    members[1]!.reaches('masterchainBlock', { masterchain: 600, shard: 0 });
    expect(orderOf(choice, wantedFor('getBlockHeader', old, plan(false, 'shared')))).toEqual([1]);
  });

  test('a plan without archive uses all servers where there are only archive servers', () => {
    const { choice } = choiceOver([{ role: 'archive' }, { role: 'latest', tier: 'private' }]);
    expect(orderOf(choice, wantedFor('getBlockHeader', old, plan(false, 'shared')))).toEqual([0]);
  });

  test('a plan shares reads in progress with plans that may use the same lite servers', () => {
    const { choice } = choiceOver([{ role: 'archive' }, { tier: 'private' }, {}]);
    const forbidden = (args: unknown, access?: ReadAccess) =>
      choice.forbidden(wantedFor('getBlockHeader', args, access));
    expect(forbidden(recent, plan(false, 'shared'))).toBe(forbidden(recent, plan(true, 'shared')));
    expect(forbidden(old, plan(false, 'shared'))).not.toBe(forbidden(old, plan(true, 'shared')));
    expect(forbidden(recent, plan(true, 'shared'))).not.toBe(forbidden(recent, plan(true, 'shared', 'private')));
    expect(forbidden(recent)).toBe('');
    expect(accessText(plan(true, 'b', 'a'))).toBe(accessText(plan(true, 'a', 'b')));
    expect(accessText(plan(true))).not.toBe(accessText(plan(false)));
  });
});

test('a lite server with slices gets no read of other parts of the chain', () => {
  const slices = [{ from: [{ ...block(400), utime: 0, lt: 0n }], to: [{ ...block(600), utime: 0, lt: 0n }] }];
  const { choice } = choiceOver([{ slices }, {}]);
  expect(orderOf(choice, wantedFor('getBlockHeader', old)).toSorted(ascending)).toEqual([0, 1]);
  expect(orderOf(choice, wantedFor('getBlockHeader', recent))).toEqual([1]);
  expect(orderOf(choice, wantedFor('getTime', {}))).toEqual([1]);
});

describe('the last good server', () => {
  const wanted = wantedFor('getBlockHeader', recent);

  test('the last good server is reused for a second, then drawn again', () => {
    const nowMs = { value: 0 };
    const { choice } = choiceOver([{}, {}, {}, {}], nowMs);
    choice.good('light', 2);
    const asked = () => choice.next(wanted, new Set())!.index;
    for (let turn = 0; turn < 20; turn += 1) {
      nowMs.value += 45;
      expect(asked()).toBe(2);
      choice.good('light', 2);
    }
    nowMs.value = 1_001;
    expect(new Set(Array.from({ length: 50 }, asked)).size).toBeGreaterThan(2);
  });

  test('the last good server leaves the others the share of their weight', () => {
    const nowMs = { value: 0 };
    const { choice } = choiceOver([{ weight: 10 }, { weight: 30 }], nowMs);
    const taken = [0, 0];
    for (let turn = 0; turn < 200_000; turn += 1) {
      nowMs.value += 100;
      const { index } = choice.next(wanted, new Set())!;
      taken[index]! += 1;
      choice.good('light', index);
    }
    expect(taken[1]! / (taken[0]! + taken[1]!)).toBeCloseTo(0.75, 1);
  });
});
