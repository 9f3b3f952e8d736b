import { beginCell } from '@ton/core';
import { describe, expect, it, vi } from 'vitest';

import { basicBlocks } from '#service/actions/engine/basic-blocks.ts';
import { eventTree } from '#service/actions/engine/classifier-input.ts';
import {
  after,
  any,
  built,
  call,
  first,
  followedBy,
  followedByAll,
  match,
  maybe,
  repeat,
  withoutExcesses,
  type Pattern,
} from '#service/actions/engine/pattern.ts';
import { runSteps } from '#service/actions/engine/steps.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { ReadBudget } from '#service/decode/read-budget.ts';
import { accounts, bareBody, eventTrace, knownWallets, type Step } from '#test/support/event-traces.ts';

const [user, contract, other] = accounts(3);

const excess: Step = { to: user, body: bareBody(0xd53276db) };

const excessCall = call(0xd53276db);

/** Opcodes of the calls that fit, of `called` and of what it sends; null for plain transfers. */
function found(pattern: Pattern, sends: readonly Step[]) {
  const called: Step = { to: contract, body: bareBody(0x11), sends };
  const tree = runSteps(eventTree(eventTrace(user, [called])));
  const [root] = runSteps(basicBlocks(tree!)).next;
  const blocks = match(pattern, root!, { interfaces: knownWallets({}) }, new ReadBudget())?.blocks;
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
    const tree = runSteps(eventTree(eventTrace(user, [{ to: contract, body: bareBody(0x11) }, excess])));
    const [root] = runSteps(basicBlocks(tree!)).next;
    const blocks = match(after(any, call(0x11)), root!, { interfaces: knownWallets({}) }, new ReadBudget())?.blocks;
    expect(blocks?.map(({ columns }) => columns.opcode)).toEqual([0x11, 0x7369676e, 0xd53276db]);
  });

  it('keeps nothing of a choice that did not fit', () => {
    const half = followedByAll(call(0x11), call(0x22), call(0x33));
    expect(found(first(half, call(0x11)), [{ to: other, body: bareBody(0x22) }])).toEqual([0x11]);
  });

  it('keeps nothing of a walk that came to no end', () => {
    const step = followedBy(call(0x22), excessCall);
    const sends = [{ to: other, body: bareBody(0x22), sends: [excess] }];
    expect(found(followedByAll(call(0x11), maybe(repeat(step, call(0x33)))), sends)).toEqual([0x11]);
  });

  it('does not look at what follows a block when the block before it does not fit', () => {
    const below = vi.fn<() => boolean>(() => true);
    const sends = [{ to: other, body: bareBody(0x22) }];
    expect(found(after(call(0x33), followedBy(call(0x11), { test: below })), sends)).toBeUndefined();
    expect(below).not.toHaveBeenCalled();
  });

  it('is not looked for with more steps than its budget has', () => {
    const tree = runSteps(eventTree(eventTrace(user, [{ to: contract, body: bareBody(0x11) }])));
    const root = runSteps(basicBlocks(tree!));
    const search = (steps: number) =>
      match(followedBy(any, any), root, { interfaces: knownWallets({}) }, new ReadBudget({ steps }));
    expect(search(2)?.blocks).toHaveLength(2);
    expect(() => search(1)).toThrow(DecodeError);
  });

  it('leaves them where it says so', () => {
    const step: Step = { to: other, body: bareBody(0x22), sends: [excess] };
    expect(found(followedBy(call(0x11), withoutExcesses(call(0x22))), [step])).toEqual([0x11, 0x22]);
  });
});
