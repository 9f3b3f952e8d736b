import { expect, test } from 'vitest';

import { createHeadCatchUp } from '#service/pool/head-catch-up.ts';
import type { Head, Tip } from '#service/pool/head.ts';
import type { Member } from '#service/pool/member.ts';

const tipOf = (seqno: number): Tip =>
  ({ block: { seqno, rootHash: Buffer.alloc(32, seqno), fileHash: Buffer.alloc(32, seqno) } }) as Tip;

const memberAt = (seqno: number, phase = 'in'): Member =>
  ({ health: () => ({ phase }), tip: () => tipOf(seqno) }) as unknown as Member;

function search(
  members: readonly Member[],
  prove: (tip: Tip) => Promise<Head> = (tip) => Promise.resolve(tip as Head),
) {
  const proved: number[] = [];
  const find = createHeadCatchUp(
    { timeoutMs: 1_000 },
    {
      members,
      prove: (tip) => {
        proved.push(tip.block.seqno);
        return prove(tip);
      },
      now: () => 0,
    },
  );
  return { find, proved };
}

test('the oldest block that is new enough is proved, from a lite server in use, once for all callers who need it', async () => {
  const { find, proved } = search([memberAt(14), memberAt(12), memberAt(11, 'out'), memberAt(9)]);
  const [first, second] = await Promise.all([find(11), find(11)]);
  expect([first?.block.seqno, second?.block.seqno]).toEqual([12, 12]);
  expect(proved).toEqual([12]);
});

test('no block is found where no lite server has it, reports it from a far future, or proves it', async () => {
  expect(await search([memberAt(9)]).find(11)).toBeUndefined();
  expect(await search([memberAt(112)]).find(11)).toBeUndefined();
  expect(await search([memberAt(12)], () => Promise.reject(new Error('forged'))).find(11)).toBeUndefined();
});
