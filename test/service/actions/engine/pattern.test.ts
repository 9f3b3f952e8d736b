import { beginCell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { basicBlocks } from '#service/actions/engine/basic-blocks.ts';
import { eventTree } from '#service/actions/engine/classifier-input.ts';
import {
  after,
  any,
  built,
  call,
  followedBy,
  match,
  withoutExcesses,
  type Pattern,
} from '#service/actions/engine/pattern.ts';
import { accounts, bareBody, eventTrace, knownWallets, type Step } from '#test/support/event-traces.ts';

const [user, contract, other] = accounts(3);

const excess: Step = { to: user, body: bareBody(0xd53276db) };

/** Opcodes of the calls that fit, of `called` and of what it sends; null for plain transfers. */
function found(pattern: Pattern, sends: readonly Step[]) {
  const called: Step = { to: contract, body: bareBody(0x11), sends };
  const tree = eventTree(eventTrace(user, [called]));
  const [root] = basicBlocks(tree!).next;
  const blocks = match(pattern, root!, { interfaces: knownWallets({}) })?.blocks;
  return blocks?.map(({ columns }) => columns.opcode ?? null);
}

describe('a pattern', () => {
  it('leaves the excesses that its root gives back', () => {
    expect(found(followedBy(call(0x11), call(0x22)), [{ to: other, body: bareBody(0x22) }, excess])).toEqual([
      0x11, 0x22,
    ]);
  });

  it.each([0xffffffff, 0xfffffffe])('takes excesses and bounces of every call below its root: %i', (opcode) => {
    const bounce: Step = { to: user, body: bareBody(opcode) };
    const step: Step = { to: other, body: bareBody(0x22), sends: [excess, bounce] };
    expect(found(followedBy(call(0x11), call(0x22)), [step])).toEqual([0x11, 0x22, 0xd53276db, opcode]);
  });

  it('takes them of blocks that were built of others, and of plain transfers', () => {
    const step: Step = { to: other, body: beginCell().endCell(), sends: [excess] };
    expect(found(followedBy(call(0x11), built('ton_transfer')), [step])).toEqual([0x11, null, 0xd53276db]);
  });

  it('takes them of any block that it follows', () => {
    const tree = eventTree(eventTrace(user, [{ to: contract, body: bareBody(0x11) }, excess]));
    const [root] = basicBlocks(tree!).next;
    const blocks = match(after(any, call(0x11)), root!, { interfaces: knownWallets({}) })?.blocks;
    expect(blocks?.map(({ columns }) => columns.opcode)).toEqual([0x11, 0x7369676e, 0xd53276db]);
  });

  it('leaves them where it says so', () => {
    const step: Step = { to: other, body: bareBody(0x22), sends: [excess] };
    expect(found(followedBy(call(0x11), withoutExcesses(call(0x22))), [step])).toEqual([0x11, 0x22]);
  });
});
