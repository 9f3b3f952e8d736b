import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import { accounts, bareBody, eventTrace, knownWallets, type Step } from '#test/support/event-traces.ts';

const [validator, wallet] = accounts(2);
const elector = `-1:${'3'.repeat(64)}`;

const answering = (order: number, answer: number, sends: readonly Step[]) =>
  classify(
    eventTrace(wallet, [
      { to: elector, body: bareBody(order), sends: [{ to: validator, body: bareBody(answer), sends }] },
    ]),
    knownWallets({}),
  ).actions;

describe('the answer of the elector', () => {
  describe.each([
    ['a stake', 'election_deposit', 0x4e73744b, 0xf374484c],
    ['a return', 'election_recover', 0x47657424, 0xf96f7324],
  ])('to %s', (_what, type, order, answer) => {
    it('does not take along what its receiver has left over', () => {
      const actions = answering(order, answer, [{ to: wallet, body: bareBody(0xd53276db) }]);
      expect(actions.map((one) => one.type)).toEqual([type, 'call_contract']);
      expect(actions[0]).toMatchObject({ success: true });
      expect(actions[1]).toMatchObject({ opcode: 0xd53276db });
    });

    it('takes along its bounce', () => {
      const actions = answering(order, answer, [{ to: elector, body: bareBody(0xffffffff) }]);
      expect(actions.map((one) => one.type)).toEqual([type]);
    });
  });
});
