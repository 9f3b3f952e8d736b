import { beginCell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import {
  accounts,
  eventTrace,
  jettonTransfer,
  knownWallets,
  transferOrder,
  type Step,
} from '#test/support/event-traces.ts';

const [user, userWallet, friend, friendWallet, jetton] = accounts(5);
const interfaces = knownWallets({ [friendWallet]: { owner: friend, jetton }, [userWallet]: { owner: user, jetton } });

const tell = (step: Step) => classify(eventTrace(user, [step]), interfaces);

describe('a transfer of jettons', () => {
  const whole = jettonTransfer({
    wallet: userWallet,
    to: { wallet: friendWallet, owner: friend },
    from: user,
    amount: 9n,
  });

  it('tells what arrived', () => {
    const ordered = { ...whole, body: transferOrder({ amount: 10n, to: friend, from: user }) };
    expect(tell(ordered).actions).toMatchObject([{ type: 'jetton_transfer', amount: 9n, destination: friend }]);
  });

  it('tells what was ordered where wallets tell one another otherwise what they hand over', () => {
    const between = beginCell().storeUint(0x178d4519, 32).storeUint(1, 8).endCell();
    const order = transferOrder({
      amount: 10n,
      to: friend,
      from: user,
      payload: beginCell().storeUint(7, 32).endCell(),
    });
    const { state, actions } = tell({ ...whole, body: order, sends: [{ to: friendWallet, body: between }] });
    expect(state).toBe('ok');
    expect(actions).toMatchObject([
      {
        type: 'jetton_transfer',
        amount: 10n,
        destination: friend,
        destinationSecondary: friendWallet,
        asset: jetton,
        data: { jetton_transfer_data: { forward_amount: 1n } },
        success: true,
      },
    ]);
  });
});
