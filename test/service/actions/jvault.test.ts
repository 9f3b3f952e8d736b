import { Address, beginCell, type Cell } from '@ton/core';
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

const [user, userWallet, pool, poolWallet, stakeWallet, referrer, nextReferrer, jetton] = accounts(8);

const interfaces = knownWallets({
  [userWallet]: { owner: user, jetton },
  [poolWallet]: { owner: pool, jetton },
});

const updated: Step = { to: stakeWallet, body: bareBody(0xae9307ce) };
/** A referrer is told, and answers the pool, which tells the next. */
const told = (account: string, sends: readonly Step[] = []): Step => ({
  to: account,
  body: bareBody(0x55c35b40),
  sends: [{ to: pool, body: bareBody(0x076ee4e0), sends }],
});
const rewards = (sends: readonly Step[]): Step => ({ to: pool, body: bareBody(0xf5c5baa3), sends });

const received = open(0xd68a4ac1)
  .storeCoins(1)
  .storeCoins(1000)
  .storeUint(50, 16)
  .storeCoins(3)
  .storeMaybeRef(null)
  .storeCoins(100)
  .endCell();

const stakeOf = (body: Cell, sends: readonly Step[]): Step =>
  jettonTransfer({
    wallet: userWallet,
    to: { wallet: poolWallet, owner: pool },
    from: user,
    amount: 100n,
    sends: [{ to: stakeWallet, body, sends }],
  });

function actionOf(type: string, step: Step) {
  const trace = eventTrace(user, [step]);
  const action = classify(trace, interfaces).actions.find((one) => one.type === type);
  return { action, isWhole: action?.transactions.length === trace.transactions.length };
}

describe('a stake at JVault', () => {
  it('mints what its wallet is told of, whatever the referrers do', () => {
    const staked = { source: user, destination: pool, asset: jetton, amount: 100n, success: true };
    for (const referrers of [[], [told(referrer)], [told(referrer, [told(nextReferrer)])]]) {
      const { action, isWhole } = actionOf('jvault_stake', stakeOf(received, [rewards([...referrers, updated])]));
      expect(action).toMatchObject(staked);
      expect(action?.data).toMatchObject({
        jvault_stake_data: { minted_stake_jettons: 100n, stake_wallet: stakeWallet },
      });
      expect(isWhole).toBe(true);
    }
  });

  it('mints nothing when it is cancelled', () => {
    const cancelled: Step = { to: pool, body: bareBody(0x9eada1d9) };
    const { action } = actionOf('jvault_stake', stakeOf(received, [cancelled]));
    expect(action).toMatchObject({ success: false, data: { jvault_stake_data: { minted_stake_jettons: null } } });
  });
});

describe('a claim at JVault', () => {
  // One key of 267 bits, and no value: `hml_long$10 n:(## 9) s:(n * Bit)`.
  const label = beginCell().storeUint(0b10, 2).storeUint(267, 9).storeAddress(Address.parse(jetton));
  const wanted = open(0x78d9f109).storeBit(true).storeRef(label).endCell();
  const paid = jettonTransfer({
    wallet: poolWallet,
    to: { wallet: userWallet, owner: user },
    from: pool,
    amount: 7n,
  });

  it('brings the rewards that were asked for', () => {
    const claim: Step = {
      to: stakeWallet,
      body: wanted,
      sends: [{ to: pool, body: bareBody(0x44bc1fe3), sends: [paid, updated] }],
    };
    const { action, isWhole } = actionOf('jvault_claim', claim);
    expect(action).toMatchObject({
      source: user,
      sourceSecondary: stakeWallet,
      destination: pool,
      data: { jvault_claim_data: { claimed_jettons: [jetton], claimed_amounts: [7n] } },
      success: true,
    });
    expect(isWhole).toBe(true);
  });
});
