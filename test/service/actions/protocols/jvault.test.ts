import { Address, beginCell, type Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import type { Interfaces } from '#service/actions/engine/interfaces.ts';
import { READ_LIMITS } from '#service/decode/read-budget.ts';
import { countSteps } from '#test/support/read-steps.ts';
import { sharedDictionary } from '#test/support/shared-cells.ts';
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

function actionOf(type: string, step: Step, known: Interfaces = interfaces) {
  const trace = eventTrace(user, [step]);
  const action = classify(trace, known).actions.find((one) => one.type === type);
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

  it('fails with the pool that is to be told of it', () => {
    const request: Step = { ...rewards([updated]), aborted: true };
    const { action } = actionOf('jvault_stake', stakeOf(received, [request]));
    expect(action).toMatchObject({ success: false, data: { jvault_stake_data: { minted_stake_jettons: 100n } } });
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

  it.each([8, 18, 200])(
    'of 2^%i jettons in one small dictionary costs one budget and makes small rows',
    async (levels) => {
      const jettons = sharedDictionary(267, levels, beginCell());
      const claim: Step = {
        to: stakeWallet,
        body: open(0x78d9f109).storeBit(true).storeRef(jettons).endCell(),
        sends: [{ to: pool, body: bareBody(0x44bc1fe3), sends: [paid, updated] }],
      };
      const { steps, value } = await countSteps(() => classify(eventTrace(user, [claim]), interfaces));
      const { actions } = value;
      expect(steps).toBeLessThan(READ_LIMITS.steps);
      expect(actions.length).toBeGreaterThan(0);
      expect(actions.some(({ type }) => type === 'jvault_claim')).toBe(false);
      const rows = JSON.stringify(actions, (_name, of: unknown) => (typeof of === 'bigint' ? `${of}` : of));
      expect(rows.length).toBeLessThan(16_384);
    },
  );
});

describe('a stake taken back from JVault', () => {
  const [minter, otherJetton] = [nextReferrer, referrer];
  const data: Readonly<Record<string, Cell>> = {
    [stakeWallet]: beginCell().storeAddress(Address.parse(pool)).storeAddress(Address.parse(minter)).endCell(),
    [pool]: beginCell()
      .storeUint(0, 33)
      .storeAddress(Address.parse(user))
      .storeAddress(Address.parse(user))
      .storeAddress(Address.parse(poolWallet))
      .endCell(),
  };
  const withData: Interfaces = { ...interfaces, data: (account) => data[account]?.toBoc() };
  const others: Interfaces = {
    ...withData,
    jettonWallet: (account) =>
      account === userWallet ? { owner: user, jetton: otherJetton } : { owner: pool, jetton },
  };
  const orderOf = (opcode: number, sends: readonly Step[]): Step => ({
    to: stakeWallet,
    body: open(opcode).storeCoins(70).endCell(),
    sends,
  });
  const paid = jettonTransfer({ wallet: poolWallet, to: { wallet: userWallet, owner: user }, from: pool, amount: 70n });
  const taken = { source: user, sourceSecondary: stakeWallet, destination: pool, asset: jetton, amount: 70n };

  it('is what its pool pays', () => {
    const unstake = orderOf(0x499a9262, [rewards([paid, updated])]);
    const { action, isWhole } = actionOf('jvault_unstake', unstake, withData);
    expect(action).toMatchObject({ ...taken, asset2: minter, opcode: null, success: true });
    expect(isWhole).toBe(true);
    expect(actionOf('jvault_unstake', unstake).action).toBeUndefined();
    expect(actionOf('jvault_unstake', unstake, others).action).toBeUndefined();
  });

  it('is what was asked for', () => {
    const refused = orderOf(0x0168d4b7, []);
    expect(actionOf('jvault_unstake_request', refused, withData).action).toMatchObject({
      ...taken,
      asset2: minter,
      opcode: 0,
      success: false,
    });
    expect(actionOf('jvault_unstake_request', refused).action).toBeUndefined();
    const answered = orderOf(0x0168d4b7, [rewards([updated])]);
    expect(actionOf('jvault_unstake_request', answered).action).toMatchObject({ ...taken, asset: null, success: true });
  });
});
