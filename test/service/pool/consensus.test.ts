import { describe, expect, test } from 'vitest';

import { createConsensusKeeper, quorumSeqno } from '#service/pool/consensus.ts';
import type { Head } from '#service/pool/head.ts';
import type { Member } from '#service/pool/member.ts';
import { bytes32, masterchainBlock } from '#test/service/v2/scripted-accounts.ts';

describe('the newest seqno of 60 %', () => {
  test.each([
    { seqnos: [], expected: 0 },
    { seqnos: [7], expected: 7 },
    { seqnos: [7, 9], expected: 7 },
    { seqnos: [9, 8, 7], expected: 8 },
    { seqnos: [10, 10, 9, 9, 1], expected: 9 },
    { seqnos: [10, 10, 10, 9, 1], expected: 10 },
    { seqnos: [5, 4, 3, 2, 1, 0], expected: 2 },
  ])('the newest seqno that 60 % of $seqnos have is $expected', ({ seqnos, expected }) => {
    expect(quorumSeqno(seqnos)).toBe(expected);
  });
});

/** Creates lite servers with movable tips, a head and a clock. */
function scene(seqnos: number[]) {
  const phases: ('in' | 'out')[] = seqnos.map(() => 'in');
  const at = { nowMs: 0, served: 0 };
  const members = seqnos.map((_, index) => ({
    health: () => ({ phase: phases[index]! }) as ReturnType<Member['health']>,
    tip: () => ({ block: masterchainBlock(seqnos[index]!), stateRootHash: bytes32(0), changedMs: 0 }),
    use: () => ({ slices: null }) as ReturnType<Member['use']>,
  }));
  const head = (): Head | undefined =>
    at.served === 0 ? undefined : ({ block: masterchainBlock(at.served) } as Partial<Head> as Head);
  const keeper = createConsensusKeeper({ members, head, now: () => at.nowMs });
  const move = (nowMs: number, change: () => void) => {
    at.nowMs = nowMs;
    change();
    keeper.consider();
    return keeper.consensus();
  };
  return { seqnos, phases, at, move };
}

describe('the consensus', () => {
  test('the consensus is unknown before the first head', () => {
    const { move } = scene([5, 5, 5]);
    expect(move(10, () => undefined)).toBeUndefined();
  });

  test('the consensus has the time when most servers reached the block, and the time stays', () => {
    const { at, seqnos, move } = scene([5, 5, 4]);
    at.served = 6;
    expect(move(10, () => undefined)).toEqual({ seqno: 5, sinceMs: 10 });
    expect(move(20, () => (seqnos[0] = 6))).toEqual({ seqno: 5, sinceMs: 10 });
    expect(move(30, () => (seqnos[1] = 6))).toEqual({ seqno: 6, sinceMs: 30 });
  });

  test('the consensus never passes the served head, which is proved', () => {
    const { at, move } = scene([900, 900, 900]);
    at.served = 6;
    expect(move(10, () => undefined)).toEqual({ seqno: 6, sinceMs: 10 });
    expect(move(20, () => (at.served = 7))).toEqual({ seqno: 7, sinceMs: 20 });
  });

  test('the consensus never goes back, and ejected lite servers do not count', () => {
    const { at, seqnos, phases, move } = scene([8, 8, 8]);
    at.served = 8;
    expect(move(10, () => undefined)).toEqual({ seqno: 8, sinceMs: 10 });
    expect(move(20, () => seqnos.fill(2))).toEqual({ seqno: 8, sinceMs: 10 });
    expect(move(30, () => seqnos.splice(0, 3, 9, 1, 1))).toEqual({ seqno: 8, sinceMs: 10 });
    at.served = 9;
    expect(move(40, () => phases.fill('out', 1))).toEqual({ seqno: 9, sinceMs: 40 });
  });
});
