import { Address, beginCell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import {
  accounts,
  bareBody,
  eventTrace,
  jettonTransfer,
  knownWallets,
  open,
  type Step,
} from '#test/support/event-traces.ts';

const [sender, user, userWallet, pool, poolWallet, position, jetton] = accounts(7);

const interfaces = knownWallets({
  [userWallet]: { owner: user, jetton },
  [poolWallet]: { owner: pool, jetton },
});
const at = (account: string): Address => Address.parse(account);

function actionOf(type: string, step: Step) {
  return classify(eventTrace(sender, [step]), interfaces).actions.find((one) => one.type === type);
}

/** The pool's wallet keeps one of the 100 jettons that it is to pay. */
const paid = jettonTransfer({ wallet: poolWallet, to: { wallet: userWallet, owner: user }, from: pool, amount: 99n });

describe('a stake taken back from Coffee', () => {
  const order = open(0xcb03bfaf).storeAddress(at(poolWallet)).storeCoins(100).storeAddress(at(user)).endCell();
  const stake = open(0xcb03bfaf)
    .storeUint(5, 64)
    .storeAddress(at(user))
    .storeCoins(7)
    .storeRef(beginCell().storeAddress(at(poolWallet)).storeCoins(100))
    .endCell();
  const ordered: Step = { to: pool, body: order, sends: [paid] };
  const withdrawal = (...besides: readonly Step[]): Step => ({
    to: position,
    body: open(0xcb03bfaf).endCell(),
    sends: [{ to: pool, body: stake, sends: [ordered, ...besides], logs: [stake] }],
  });

  it('is of the owner whom its position names, and of what the pool has paid', () => {
    expect(actionOf('coffee_staking_withdraw', withdrawal())).toMatchObject({
      source: user,
      sourceSecondary: userWallet,
      destination: position,
      destinationSecondary: poolWallet,
      asset: jetton,
      amount: 100n,
      data: { coffee_staking_withdraw_data: { nft_address: position, nft_index: 5n, points: 7n } },
      success: true,
    });
  });

  it('leaves what was left of the gas to an action of its own', () => {
    const { actions } = classify(
      eventTrace(sender, [withdrawal({ to: user, body: bareBody(0xd53276db) })]),
      interfaces,
    );
    const whole = actions.filter(({ parentActionId }) => parentActionId === null);
    expect(whole).toMatchObject([
      { type: 'coffee_staking_withdraw' },
      { type: 'call_contract', opcode: 0xd53276db, destination: user },
    ]);
  });
});

describe('rewards of a stake at Coffee', () => {
  const claim = open(0xb30c7310)
    .storeAddress(at(poolWallet))
    .storeCoins(100)
    .storeAddress(at(user))
    .storeMaybeRef(null)
    .endCell();

  it('are what the pool was told to pay', () => {
    const step: Step = { to: pool, body: claim, sends: [paid], logs: [claim] };
    expect(actionOf('coffee_staking_claim_rewards', step)).toMatchObject({
      source: pool,
      sourceSecondary: poolWallet,
      destination: user,
      destinationSecondary: userWallet,
      asset: jetton,
      amount: 100n,
      success: true,
    });
  });
});
