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
  transferOrder,
} from '#test/support/event-traces.ts';

const [
  user,
  userWallet,
  gotWallet,
  router,
  routerWallet,
  proxyWallet,
  pool,
  nextRouter,
  nextPool,
  middleWallet,
  nextWallet,
  jetton,
  middle,
  other,
] = accounts(14);

const proxyTon = '0:671963027F7F85659AB55B821671688601CDCF1EE674FC7FBBB1A776A18D34A3';
const interfaces = knownWallets({
  [userWallet]: { owner: user, jetton },
  [routerWallet]: { owner: router, jetton },
  [proxyWallet]: { owner: router, jetton: proxyTon },
  [nextWallet]: { owner: nextRouter, jetton: other },
  [gotWallet]: { owner: user, jetton: other },
  [middleWallet]: { owner: nextRouter, jetton: middle },
});
const at = (account: string): Address => Address.parse(account);

/** For what comes into one wallet of a router, and then into the next. */
function orderFor(opcode: number, [wanted, ...rest]: readonly string[]): Cell {
  const next = rest.length === 0 ? null : orderFor(0x69cf1a5b, rest);
  const terms = beginCell().storeCoins(1).storeAddress(at(user)).storeCoins(2).storeMaybeRef(next);
  return beginCell().storeUint(opcode, 32).storeAddress(at(wanted!)).storeRef(terms).endCell();
}

const swapBody = (...wanted: readonly string[]): Cell =>
  open(0x6664de2a)
    .storeAddress(at(user))
    .storeCoins(100)
    .storeCoins(0)
    .storeRef(orderFor(0x6664de2a, wanted))
    .endCell();
const SWAPPED = 0xc64370e5;
const payTo = (to: string, amount: bigint, token: string, exitCode = SWAPPED): Cell =>
  open(0x657b54f5)
    .storeAddress(at(to))
    .storeAddress(at(user))
    .storeAddress(at(user))
    .storeUint(exitCode, 32)
    .storeMaybeRef(null)
    .storeRef(
      beginCell().storeCoins(0).storeCoins(0).storeAddress(at(routerWallet)).storeCoins(amount).storeAddress(at(token)),
    )
    .endCell();
const got = (amount: bigint, from: string, wallet: string, owner = user): Step =>
  jettonTransfer({ wallet: from, to: { wallet, owner }, from: router, amount });

/** A pool swaps, and its router pays out in proxy TON, which goes on at another router with what it carries. */
function swapInto(carried: Cell): Step {
  const onward = swapStep(nextPool, nextRouter, payTo(user, 45n, nextWallet), [got(45n, nextWallet, gotWallet)]);
  const proxied: Step = {
    to: nextRouter,
    body: open(0x01f3835d).storeCoins(60).storeAddress(at(user)).storeMaybeRef(carried).endCell(),
    sends: [{ to: nextRouter, body: bareBody(0x7362d09c), sends: [onward] }],
  };
  const out = transferOrder({ amount: 60n, to: nextRouter, from: user, payload: carried });
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

  it('ends with the TON when the proxy carries anything else', () => {
    const trace = eventTrace(user, [swapInto(beginCell().storeUint(0x12345678, 32).endCell())]);
    const { actions } = classify(trace, interfaces);
    expect(actions[0]).toMatchObject({ type: 'jetton_swap', asset: jetton, asset2: null });
    // TON Center's swap takes the proxy along. No swap begins with what is left.
    expect(actions.map(({ opcode }) => opcode)).not.toContain(0x01f3835d);
    expect(actions.filter(({ type }) => type === 'jetton_swap')).toHaveLength(1);
  });
});

/** Jettons into the router, with an order for a route of wallets. */
function swapOf(wanted: readonly string[], payer: string, body: Cell, sends: readonly Step[]): Step {
  const pay: Step = { to: payer, body, sends };
  return jettonTransfer({
    wallet: userWallet,
    to: { wallet: routerWallet, owner: router },
    from: user,
    amount: 100n,
    sends: [{ to: pool, body: swapBody(...wanted), sends: [pay] }],
  });
}

const transferTo = (to: string, amount: bigint): Cell => transferOrder({ amount, to, from: user });

describe('a swap at STON.fi for TON', () => {
  const ton = open(0x01f3835d).storeCoins(45).storeAddress(at(user)).storeBit(false).endCell();
  const paid = (sends: readonly Step[]): Step => ({ to: proxyWallet, body: transferTo(user, 46n), sends });

  it('has the TON that the proxy pays out in it', () => {
    const step = swapOf([proxyWallet], router, payTo(user, 46n, proxyWallet), [paid([{ to: user, body: ton }])]);
    const { actions } = classify(eventTrace(user, [step]), interfaces);
    expect(actions).toMatchObject([{ type: 'jetton_swap', asset: jetton, asset2: null, success: true }]);
    expect(actions[0]?.data).toMatchObject({
      jetton_swap_data: {
        dex_outgoing_transfer: {
          asset: null,
          amount: 45n,
          source: router,
          destination: user,
          source_jetton_wallet: null,
        },
        peer_swaps: [],
      },
    });
  });

  it('is none when the proxy does not pay', () => {
    expect(swapsOf(swapOf([proxyWallet], router, payTo(user, 46n, proxyWallet), [paid([])]))).toEqual([]);
  });
});

describe('a swap at STON.fi that fails', () => {
  const FULL = 0x5ffe1295;

  it('at its first pool names what the end of its route was to bring', () => {
    const back = got(100n, routerWallet, userWallet);
    const step = swapOf([middleWallet, nextWallet], router, payTo(user, 100n, routerWallet, FULL), [back]);
    expect(swapsOf(step)).toMatchObject([
      {
        asset: jetton,
        asset2: other,
        success: false,
        data: { jetton_swap_data: { dex_outgoing_transfer: { asset: jetton, amount: 100n }, peer_swaps: [] } },
      },
    ]);
  });

  it('behind its first pool went over none but that', () => {
    const back = got(60n, middleWallet, userWallet);
    const onward: Step = {
      to: nextPool,
      body: swapBody(nextWallet),
      sends: [{ to: nextRouter, body: payTo(user, 60n, middleWallet, FULL), sends: [back] }],
    };
    const step = swapOf([middleWallet, nextWallet], router, payTo(nextRouter, 60n, middleWallet), [onward]);
    const middled = {
      ...interfaces,
      jettonWallet: (account: string) =>
        account === userWallet ? { owner: user, jetton: middle } : interfaces.jettonWallet(account),
    };
    const { actions } = classify(eventTrace(user, [step]), middled);
    expect(actions.filter(({ type }) => type === 'jetton_swap')).toMatchObject([
      {
        asset: jetton,
        asset2: other,
        success: false,
        data: { jetton_swap_data: { dex_outgoing_transfer: { asset: middle, amount: 60n }, peer_swaps: [] } },
      },
    ]);
  });

  it('at a pool that pays nothing ends before it', () => {
    const onward: Step = {
      to: nextPool,
      body: swapBody(nextWallet),
      sends: [{ to: nextRouter, body: payTo(user, 45n, nextWallet), sends: [] }],
    };
    const into = { wallet: middleWallet, owner: nextRouter };
    const out = jettonTransfer({ wallet: routerWallet, to: into, from: router, amount: 60n, sends: [onward] });
    const step = swapOf([middleWallet, nextWallet], router, payTo(nextRouter, 60n, middleWallet), [out]);
    expect(swapsOf(step)).toMatchObject([
      {
        asset: jetton,
        asset2: middle,
        success: true,
        data: { jetton_swap_data: { dex_outgoing_transfer: { asset: middle, amount: 60n }, peer_swaps: [] } },
      },
    ]);
  });

  it('without anything paid back is none', () => {
    expect(swapsOf(swapOf([nextWallet], router, payTo(user, 100n, routerWallet, FULL), []))).toEqual([]);
  });
});
