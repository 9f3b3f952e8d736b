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
  transferOrder,
} from '#test/support/event-traces.ts';

const [
  user,
  userWallet,
  gotWallet,
  router,
  routerWallet,
  wantedWallet,
  pool,
  friend,
  friendWallet,
  jetton,
  wanted,
  proxyWallet,
] = accounts(12);

const proxyTon = '0:8CDC1D7640AD5EE326527FC1AD0514F468B30DC84B0173F0E155F451B4E11F7C';

const interfaces = knownWallets({
  [userWallet]: { owner: user, jetton },
  [routerWallet]: { owner: router, jetton },
  [gotWallet]: { owner: user, jetton: wanted },
  [wantedWallet]: { owner: router, jetton: wanted },
  [friendWallet]: { owner: friend, jetton: wanted },
  [proxyWallet]: { owner: router, jetton: proxyTon },
});
const at = (account: string): Address => Address.parse(account);

const SWAPPED = 0xc64370e5;
const REFERRAL = 0x45078540;
const NO_LIQUIDITY = 0x5ffe1295;

const payload = beginCell().storeUint(0x25938561, 32).storeAddress(at(wantedWallet)).storeCoins(1).endCell();
const swapBody = open(0x25938561).storeAddress(at(user)).storeAddress(at(routerWallet)).storeCoins(100).endCell();

/** A pool has its router pay, and the router does. */
function payment(
  exitCode: number,
  amount: bigint,
  to: { readonly wallet: string; readonly owner: string },
  from = wantedWallet,
): Step {
  const out = beginCell().storeCoins(amount).storeAddress(at(from)).storeCoins(0).storeAddress(at(routerWallet));
  const body = open(0xf93bb43f).storeAddress(at(to.owner)).storeUint(exitCode, 32).storeRef(out).endCell();
  return { to: router, body, sends: [jettonTransfer({ wallet: from, to, from: router, amount })] };
}

/** Jettons into the router, with an order to swap them. */
function swapped(...payments: readonly Step[]): Step {
  const swap: Step = { to: pool, body: swapBody, sends: payments };
  return jettonTransfer({
    wallet: userWallet,
    to: { wallet: routerWallet, owner: router },
    from: user,
    amount: 100n,
    payload,
    sends: [swap],
  });
}

const actionsOf = (step: Step) => classify(eventTrace(user, [step]), interfaces).actions;
const mine = { wallet: gotWallet, owner: user };

describe('a swap at the first STON.fi', () => {
  it('leaves what a friend gets for it to actions of its own', () => {
    const paid = payment(REFERRAL, 3n, { wallet: friendWallet, owner: friend });
    const [swap, ...others] = actionsOf(swapped(payment(SWAPPED, 45n, mine), paid));
    expect(swap).toMatchObject({ type: 'jetton_swap', asset2: wanted, success: true });
    expect(swap?.data).toMatchObject({
      jetton_swap_data: { dex_outgoing_transfer: { amount: 45n, destination: user } },
    });
    expect(swap?.accounts).not.toContain(friend);
    expect(others).toMatchObject([
      { type: 'call_contract', opcode: 0xf93bb43f, destination: router },
      { type: 'jetton_transfer', destination: friend, amount: 3n },
    ]);
  });

  it('takes TON for the router that owns the proxy, whomever its order names', () => {
    const swap: Step = { to: pool, body: swapBody, sends: [payment(SWAPPED, 45n, mine)] };
    const order: Step = {
      to: proxyWallet,
      body: transferOrder({ amount: 100n, to: friend, from: user, payload }),
      sends: [{ to: router, body: bareBody(0x7362d09c), sends: [swap] }],
    };
    expect(actionsOf(order)[0]?.data).toMatchObject({
      jetton_swap_data: {
        dex_incoming_transfer: {
          asset: proxyTon,
          amount: 100n,
          source: user,
          source_jetton_wallet: null,
          destination: router,
          destination_jetton_wallet: proxyWallet,
        },
      },
    });
  });

  it('a swap that returns what was sent has the wanted jetton and its wallet', () => {
    const back = payment(NO_LIQUIDITY, 100n, { wallet: userWallet, owner: user }, routerWallet);
    expect(actionsOf(swapped(back))).toMatchObject([
      {
        type: 'jetton_swap',
        asset: jetton,
        asset2: wanted,
        destinationSecondary: wantedWallet,
        success: false,
        data: { jetton_swap_data: { dex_outgoing_transfer: { asset: jetton, amount: 100n } } },
      },
    ]);
  });
});
