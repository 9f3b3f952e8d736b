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

const [user, userWallet, router, routerWallet, proxyWallet, pool, nextRouter, nextPool, nextWallet, jetton, other] =
  accounts(11);

const proxyTon = '0:671963027F7F85659AB55B821671688601CDCF1EE674FC7FBBB1A776A18D34A3';
const interfaces = knownWallets({
  [userWallet]: { owner: user, jetton },
  [routerWallet]: { owner: router, jetton },
  [proxyWallet]: { owner: router, jetton: proxyTon },
  [nextWallet]: { owner: nextRouter, jetton: other },
});
const at = (account: string): Address => Address.parse(account);

const swapBody = (wanted: string): Cell =>
  open(0x6664de2a)
    .storeAddress(at(user))
    .storeCoins(100)
    .storeCoins(0)
    .storeRef(beginCell().storeUint(0x6664de2a, 32).storeAddress(at(wanted)))
    .endCell();
const payTo = (to: string, amount: bigint, token: string): Cell =>
  open(0x657b54f5)
    .storeAddress(at(to))
    .storeAddress(at(user))
    .storeAddress(at(user))
    .storeUint(0xc64370e5, 32)
    .storeMaybeRef(null)
    .storeRef(
      beginCell().storeCoins(0).storeCoins(amount).storeAddress(at(token)).storeCoins(0).storeAddress(at(routerWallet)),
    )
    .endCell();

/** A pool swaps, and its router pays out in proxy TON, which goes on at another router with what it carries. */
function swapInto(carried: Cell): Step {
  const onward = swapStep(nextPool, nextRouter, payTo(user, 45n, nextWallet), []);
  const proxied: Step = {
    to: nextRouter,
    body: open(0x01f3835d).storeCoins(60).storeAddress(at(user)).storeMaybeRef(carried).endCell(),
    sends: [{ to: nextRouter, body: bareBody(0x7362d09c), sends: [onward] }],
  };
  const out = open(0x0f8a7ea5)
    .storeCoins(60)
    .storeAddress(at(nextRouter))
    .storeAddress(at(user))
    .storeBit(false)
    .storeCoins(1)
    .storeMaybeRef(carried)
    .endCell();
  return jettonTransfer({
    wallet: userWallet,
    to: { wallet: routerWallet, owner: router },
    from: user,
    amount: 100n,
    sends: [
      swapStep(pool, router, payTo(nextRouter, 60n, proxyWallet), [{ to: proxyWallet, body: out, sends: [proxied] }]),
    ],
  });
}

function swapStep(through: string, payer: string, body: Cell, sends: readonly Step[]): Step {
  return { to: through, body: swapBody(nextWallet), sends: [{ to: payer, body, sends }] };
}

const swapsOf = (step: Step) =>
  classify(eventTrace(user, [step]), interfaces).actions.filter(({ type }) => type === 'jetton_swap');

describe('a swap at STON.fi that proxy TON takes to another router', () => {
  it('is one swap over both pools when the proxy carries an order to swap', () => {
    const [swap, ...others] = swapsOf(swapInto(beginCell().storeUint(0x6664de2a, 32).endCell()));
    expect(others).toEqual([]);
    expect(swap).toMatchObject({ asset: jetton, asset2: other, success: true });
    expect(swap?.data).toMatchObject({
      jetton_swap_data: {
        dex: 'stonfi_v2',
        peer_swaps: [
          { asset_in: jetton, amount_in: 100n, asset_out: null, amount_out: 60n },
          { asset_in: null, amount_in: 60n, asset_out: other, amount_out: 45n },
        ],
      },
    });
  });

  it('leaves the proxy to what begins there when it carries anything else', () => {
    const swaps = swapsOf(swapInto(beginCell().storeUint(0x12345678, 32).endCell()));
    expect(swaps).toMatchObject([
      { asset: jetton, asset2: null },
      { asset: null, asset2: other, source: proxyWallet },
    ]);
  });
});
