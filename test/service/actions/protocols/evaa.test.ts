import { Address, beginCell, type Builder } from '@ton/core';
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

const [user, master, contract, friend, userWallet, masterWallet, friendWallet, jetton] = accounts(8);
const interfaces = knownWallets({
  [userWallet]: { owner: user, jetton },
  [masterWallet]: { owner: master, jetton },
  [friendWallet]: { owner: friend, jetton },
});
const tonId = 0x1a4219fe5e60d63af2a3cc7dce6fec69b45c6b5718497a6148e7c232ac87bd8an;

/** Before messages to a user's contract: coins, no reference, two bits. */
const toUser = (opcode: number): Builder =>
  beginCell().storeCoins(1).storeBit(false).storeUint(0, 2).storeUint(opcode, 32).storeUint(0, 64);
const actionOf = (type: string, step: Step) =>
  classify(eventTrace(user, [step]), interfaces).actions.find((one) => one.type === type);

const told = (sends: readonly Step[]): Step => ({
  to: contract,
  body: toUser(0x11).storeUint(0xa5, 256).endCell(),
  sends,
});

describe('a supply to EVAA', () => {
  const taken: Step = {
    to: master,
    body: open(0x11a).storeAddress(Address.parse(user)).storeUint(0xa5, 256).storeUint(48, 64).endCell(),
  };
  const supplied = open(0x01).storeInt(0, 2).storeUint(50, 64).storeAddress(Address.parse(friend)).endCell();
  const supplyOf = (to: string, sends: readonly Step[]): Step => {
    const payload = beginCell().storeUint(1, 32).storeInt(0, 2).storeAddress(Address.parse(to)).endCell();
    const owner = { wallet: masterWallet, owner: master };
    return jettonTransfer({ wallet: userWallet, to: owner, from: user, amount: 50n, payload, sends });
  };

  it('is what the user contract says that it took', () => {
    const action = actionOf('evaa_supply', { to: master, body: supplied, sends: [told([taken])] });
    expect(action).toMatchObject({ source: user, destination: friend, amount: 48n, success: true });
  });

  it('may be for nobody', () => {
    const body = open(0x01).storeInt(0, 2).storeUint(50, 64).storeAddress(null).endCell();
    const action = actionOf('evaa_supply', { to: master, body, sends: [told([taken])] });
    expect(action).toMatchObject({ source: user, destination: null, amount: 48n });
  });

  it('is what was sent when nothing was taken', () => {
    const refused: Step = { to: master, body: bareBody(0x11f) };
    const action = actionOf('evaa_supply', { to: master, body: supplied, sends: [told([refused])] });
    expect(action).toMatchObject({ amount: 50n, success: false });
  });

  it.each([
    ['the one who pays', user, userWallet],
    ['somebody else, whose wallet is not known', friend, null],
  ])('is for %s', (_who, to, wallet) => {
    const action = actionOf('evaa_supply', supplyOf(to, [told([taken])]));
    expect(action).toMatchObject({ destination: to, amount: 48n });
    expect(action?.data['evaa_supply_data']).toMatchObject({
      recipient_jetton_wallet: wallet,
      master_jetton_wallet: masterWallet,
    });
  });
});

describe('a withdrawal from EVAA', () => {
  const withdrawalOf = (assetId: bigint, payout: Step): Step => {
    const wanted = open(0x02).storeUint(assetId, 256).storeUint(50, 64).storeAddress(Address.parse(friend)).endCell();
    const secured = open(0x211).storeAddress(Address.parse(user)).storeUint(assetId, 256).storeUint(49, 64).endCell();
    const left: Step = { to: user, body: beginCell().endCell() };
    const done: Step = { to: contract, body: toUser(0x211a).endCell(), sends: [left] };
    const asked: Step = { to: master, body: secured, sends: [payout, done] };
    return { to: master, body: wanted, sends: [{ to: contract, body: toUser(0x21).endCell(), sends: [asked] }] };
  };
  const paidTon: Step = { to: friend, body: bareBody(0x211a) };

  it('pays whom the order names', () => {
    const action = actionOf('evaa_withdraw', withdrawalOf(tonId, paidTon));
    expect(action).toMatchObject({ source: user, destination: friend, amount: 49n, success: true });
  });

  it('is none of jettons when TON was paid', () => {
    expect(actionOf('evaa_withdraw', withdrawalOf(0xa5n, paidTon))).toBeUndefined();
  });
});

describe('a liquidation at EVAA that is paid for with jettons', () => {
  const satisfied = open(0x311)
    .storeAddress(Address.parse(friend))
    .storeAddress(Address.parse(user))
    .storeUint(0xdeb, 256)
    .storeRef(
      beginCell()
        .storeInt(-5, 64)
        .storeUint(500, 64)
        .storeUint(3, 64)
        .storeInt(-6, 64)
        .storeUint(0xc0, 256)
        .storeInt(-7, 64)
        .storeUint(900, 64),
    )
    .endCell();
  const paidFor = (sends: readonly Step[]): Step =>
    jettonTransfer({
      wallet: userWallet,
      to: { wallet: masterWallet, owner: master },
      from: user,
      amount: 50n,
      payload: beginCell().storeUint(3, 32).endCell(),
      sends: [{ to: contract, body: toUser(0x31).endCell(), sends }],
    });

  it('is what the user contract says, whatever the order looked like', () => {
    const back: Step[] = [
      { to: contract, body: toUser(0x311a).endCell() },
      { to: user, body: bareBody(0x311d) },
    ];
    const action = actionOf('evaa_liquidate', paidFor([{ to: master, body: satisfied, sends: back }]));
    expect(action).toMatchObject({
      source: user,
      destination: friend,
      destinationSecondary: contract,
      amount: 900n,
      data: { evaa_liquidate_data: { fail_reason: null, debt_amount: 500n, asset_id: '0xc0' } },
      success: true,
    });
  });

  it('is none where nobody says what it was to be', () => {
    const back: Step[] = [
      { to: contract, body: bareBody(0x311f) },
      { to: user, body: bareBody(0x311f) },
    ];
    expect(actionOf('evaa_liquidate', paidFor([{ to: master, body: satisfied, sends: back }]))).toBeUndefined();
  });
});
