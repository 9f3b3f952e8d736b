import { Address, beginCell, type Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import { accounts, bareBody, eventTrace, knownWallets, open, type Step } from '#test/support/event-traces.ts';

const [owner, vesting, receiver] = accounts(3);

const body = beginCell().storeUint(5, 32).endCell();

/** `int_msg_info$0` as an owner orders it: sender, fees and times are the chain's to fill. */
const wrapped = beginCell()
  .storeUint(0x18, 6)
  .storeAddress(Address.parse(receiver))
  .storeCoins(7)
  .storeUint(1, 1 + 4 + 4 + 64 + 32 + 1 + 1)
  .storeRef(body)
  .endCell();

const sending = (
  message: Cell,
  sends: readonly Step[] = [],
  sent: readonly Step[] = [{ to: receiver, body, value: 6n }],
) =>
  classify(
    eventTrace(owner, [
      {
        to: vesting,
        body: open(0xa7733acd).storeUint(3, 8).storeRef(message).endCell(),
        sends: [...sent, { to: owner, body: bareBody(0xf7733acd), sends }],
      },
    ]),
    knownWallets({}),
  );

describe('a message out of a vesting', () => {
  it('is told with what it says, as it was ordered', () => {
    const [action] = sending(wrapped).actions;
    expect(action).toMatchObject({
      type: 'vesting_send_message',
      source: owner,
      destination: vesting,
      destinationSecondary: receiver,
      amount: 7n,
      data: {
        vesting_send_message_data: { message_boc: wrapped.toBoc({ idx: false, crc32: false }).toString('base64') },
      },
      success: true,
    });
  });

  it.each([
    ['nothing', []],
    ['something else', [{ to: receiver, body: bareBody(5) }]],
  ])('is the same action when the contract sends %s', (_what, sent) => {
    const [action] = sending(wrapped, [], sent).actions;
    expect(action).toMatchObject({ type: 'vesting_send_message', destinationSecondary: receiver, success: true });
  });

  it.each([
    ['goes outside', beginCell().storeUint(0b11, 2).storeUint(0, 200).endCell()],
    ['ends too early', beginCell().storeUint(0x18, 6).endCell()],
  ])('is a call like others when it %s', (_what, message) => {
    const { state, actions } = sending(message);
    expect(state).toBe('ok');
    expect(actions.map(({ type }) => type)).toEqual(['call_contract', 'call_contract', 'call_contract']);
  });

  it('is not what its owner sends on after the answer', () => {
    const { actions } = sending(wrapped, [{ to: receiver, body: bareBody(0xd53276db) }]);
    const whole = actions.filter(({ parentActionId }) => parentActionId === null);
    expect(whole.map(({ type }) => type)).toEqual(['vesting_send_message', 'call_contract', 'call_contract']);
    expect(whole[0]?.transactions).toHaveLength(3);
  });
});
