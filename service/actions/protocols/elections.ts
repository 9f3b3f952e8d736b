import { BOUNCE_OPCODES } from '#service/decode/tlb/bounced-body.ts';
import { callOf } from '../engine/basic-blocks.ts';
import type { Matcher } from '../engine/matcher.ts';
import { as, call, followedBy, maybe, withoutExcesses, type Pattern } from '../engine/pattern.ts';
import { innerCall } from '../operations/jettons.ts';
import type { DetailFields, FamilyTypes } from '../engine/action-type.ts';
import type { Family } from '../engine/family.ts';

// Validators' stakes at the elector.

const elector = `-1:${'3'.repeat(64)}`;

function toElector(opcode: number): Pattern {
  return {
    ...call(opcode),
    test: (block) => callOf(block)?.opcode === opcode && callOf(block)?.message.destination === elector,
  };
}

/** The elector's answer, with its bounce. What its receiver has left over stays an action of its own. */
const confirmation = (opcode: number): Pattern =>
  as('confirmation', withoutExcesses(followedBy(call(opcode), maybe(call(...BOUNCE_OPCODES)))));

const deposit: Matcher<Type> = {
  pattern: followedBy(toElector(0x4e73744b), maybe(confirmation(0xf374484c))),
  build(root, found) {
    const { message, source } = innerCall(root);
    return {
      type: 'election_deposit',
      columns: { source, amount: message.value },
      failed: found.one('confirmation') === undefined,
    };
  },
};

const recover: Matcher<Type> = {
  pattern: followedBy(toElector(0x47657424), maybe(confirmation(0xf96f7324))),
  build(root, found) {
    const confirmed = found.one('confirmation');
    return {
      type: 'election_recover',
      columns: {
        source: innerCall(root).source,
        amount: confirmed === undefined ? null : innerCall(confirmed).message.value,
      },
      failed: confirmed === undefined,
    };
  },
};

const electionDepositDetails = { stake_holder: 'address source', amount: 'amount? amount' } satisfies DetailFields;

/** Types of the elector. */
const types = {
  election_deposit: {
    words: ['Election stake', '{@stake_holder} stakes[ {$amount}] for the election of validators'],
    since: 'v1',
    groups: [],
    isIndivisible: true,
    details: electionDepositDetails,
  },
  election_recover: {
    words: ['Election stake returned', '{@stake_holder} gets[ {$amount}] back from the elector'],
    since: 'v1',
    groups: [],
    isIndivisible: true,
    details: electionDepositDetails,
  },
} satisfies FamilyTypes;

type Type = keyof typeof types;

/** Actions of the elector. */
export const elections = { types, matchers: { deposit, recover } } satisfies Family;
