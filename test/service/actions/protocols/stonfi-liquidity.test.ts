import { Address, type Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import {
  accounts,
  bareBody,
  eventTrace,
  jettonTransfer,
  knownWallets,
  mintedJettons,
  open,
  type Step,
  transferOrder,
} from '#test/support/event-traces.ts';

const [user, userWallet, router, routerWallet, pool, shares, sharesWallet, proxyWallet, jetton] = accounts(9);
const proxyMaster = '0:671963027F7F85659AB55B821671688601CDCF1EE674FC7FBBB1A776A18D34A3';

const interfaces = knownWallets({
  [userWallet]: { owner: user, jetton },
  [routerWallet]: { owner: router, jetton },
  [sharesWallet]: { owner: user, jetton: pool },
  [proxyWallet]: { owner: router, jetton: proxyMaster },
});

/** The router tells the pool what came: one of two amounts. */
function provide(amounts: readonly [bigint, bigint], sends: readonly Step[]): Step {
  const body = open(0x37c096df)
    .storeAddress(Address.parse(user))
    .storeCoins(amounts[0])
    .storeCoins(amounts[1])
    .endCell();
  return { to: pool, body, sends: [{ to: shares, body: bareBody(0x50c6a654), sends }] };
}

/** What the pool does once it has both. */
const both = (step: Step): Step => ({ to: pool, body: bareBody(0x06ecd527), sends: [step] });
const minted = both({ to: sharesWallet, body: mintedJettons(70n) });
const refused = both({ to: shares, body: bareBody(0x50c6a654) });

const inJettons = (sends: readonly Step[]): Step =>
  jettonTransfer({
    wallet: userWallet,
    to: { wallet: routerWallet, owner: router },
    from: user,
    amount: 50n,
    sends: [provide([0n, 50n], sends)],
  });

const proxyTon = (amount: bigint): Cell =>
  open(0x01f3835d).storeCoins(amount).storeAddress(Address.parse(user)).endCell();

const inTon = (sends: readonly Step[]): Step => ({
  to: proxyWallet,
  body: proxyTon(30n),
  sends: [{ to: router, body: bareBody(0x7362d09c), sends: [provide([30n, 0n], sends)] }],
});

/** Actions of the trace without those of the single messages. */
function actionsOf(steps: readonly Step[]) {
  const { state, actions } = classify(eventTrace(user, steps), interfaces);
  expect(state).toBe('ok');
  return actions.filter(({ type }) => type.startsWith('dex_'));
}

describe('a deposit into a pool of STON.fi', () => {
  it.each([
    { step: inJettons([]), expected: { asset1: jetton, amount1: 50n, user_jetton_wallet_1: userWallet } },
    { step: inTon([]), expected: { asset1: null, amount1: 30n, user_jetton_wallet_1: null } },
  ])('is told of one asset alone: $expected.asset1', ({ step, expected }) => {
    const group = { dex: 'stonfi_v2', ...expected, asset2: null, amount2: null, lp_tokens_minted: null };
    expect(actionsOf([step])).toMatchObject([
      {
        type: 'dex_deposit_liquidity',
        source: user,
        destination: pool,
        success: true,
        data: { dex_deposit_liquidity_data: group },
      },
    ]);
  });

  it('of nobody names nobody', () => {
    const body = open(0x37c096df).storeAddress(null).storeCoins(30).storeCoins(0).endCell();
    const told: Step = { to: pool, body, sends: [{ to: shares, body: bareBody(0x50c6a654) }] };
    const [deposit] = actionsOf([{ ...inTon([]), sends: [{ to: router, body: bareBody(0x7362d09c), sends: [told] }] }]);
    expect(deposit).toMatchObject({ source: null, destination: pool });
    expect(deposit?.accounts.every((account) => account.startsWith('0:'))).toBe(true);
  });

  it('is one action when both assets came from one message', () => {
    const trace = eventTrace(user, [inTon([]), inJettons([minted])]);
    const { actions } = classify(trace, interfaces);
    expect(actions).toMatchObject([
      {
        success: true,
        data: {
          dex_deposit_liquidity_data: {
            amount1: 30n,
            asset1: null,
            user_jetton_wallet_1: null,
            amount2: 50n,
            asset2: jetton,
            user_jetton_wallet_2: userWallet,
            lp_tokens_minted: 70n,
          },
        },
      },
    ]);
    // TON Center lists no transaction that sent both halves: nothing alone began the deposit.
    const [, ...halves] = trace.transactions.map(({ hash }) => hash);
    expect(new Set(actions[0]!.transactions)).toEqual(new Set(halves));
  });

  it('takes the shares from the half that got them', () => {
    expect(actionsOf([inTon([minted]), inJettons([])])).toMatchObject([
      { data: { dex_deposit_liquidity_data: { amount1: 30n, amount2: 50n, lp_tokens_minted: 70n } } },
    ]);
  });

  it('stays two actions when neither half got shares, and the refused one failed', () => {
    expect(actionsOf([inTon([]), inJettons([refused])]).map(({ success }) => success)).toEqual([true, false]);
  });

  it('joins the second pair of halves by itself', () => {
    const pairs = [
      inTon([]),
      inJettons([minted]),
      inTon([]),
      inJettons([both({ to: sharesWallet, body: mintedJettons(71n) })]),
    ];
    const groups = actionsOf(pairs).map(({ data }) => data['dex_deposit_liquidity_data']);
    expect(groups).toMatchObject([
      { amount1: 30n, amount2: 50n, lp_tokens_minted: 70n },
      { amount1: 30n, amount2: 50n, lp_tokens_minted: 71n },
    ]);
  });
});

const payTo = (sends: readonly Step[]): Step => ({ to: router, body: bareBody(0x657b54f5), sends });

const outJettons = payTo([
  jettonTransfer({ wallet: routerWallet, to: { wallet: userWallet, owner: user }, from: router, amount: 40n }),
]);

const outTon = payTo([
  {
    to: proxyWallet,
    body: transferOrder({ amount: 20n, to: user, from: null }),
    sends: [{ to: user, body: proxyTon(21n) }],
  },
]);

const burnt = (sends: readonly Step[]): Step => ({
  to: sharesWallet,
  body: open(0x595f07bc).storeCoins(70).storeAddress(Address.parse(user)).endCell(),
  sends: [{ to: pool, body: bareBody(0x7bdd97de), sends: [{ to: pool, body: bareBody(0x297437cf), sends }] }],
});

const refund = (sends: readonly Step[]): Step => ({
  to: shares,
  body: bareBody(0x132b9a2c),
  sends: [{ to: pool, body: bareBody(0x0f98e2b8), sends }],
});

describe('a withdrawal from a pool of STON.fi', () => {
  it('brings both assets of burnt shares, proxy TON as TON', () => {
    const trace = eventTrace(user, [burnt([outJettons, outTon])]);
    const { actions } = classify(trace, interfaces);
    expect(actions).toMatchObject([
      {
        type: 'dex_withdraw_liquidity',
        source: user,
        sourceSecondary: sharesWallet,
        destination: pool,
        asset: pool,
        success: true,
        data: {
          dex_withdraw_liquidity_data: {
            dex: 'stonfi_v2',
            amount1: 40n,
            asset1_out: jetton,
            user_jetton_wallet_1: userWallet,
            dex_jetton_wallet_1: routerWallet,
            dex_wallet_1: router,
            amount2: 21n,
            asset2_out: null,
            dex_jetton_wallet_2: null,
            dex_wallet_2: router,
            lp_tokens_burnt: 70n,
          },
        },
      },
    ]);
    expect(new Set(actions[0]!.transactions)).toEqual(new Set(trace.transactions.map(({ hash }) => hash)));
  });

  it('gives back what waited for its other half', () => {
    expect(actionsOf([refund([outJettons])])).toMatchObject([
      {
        type: 'dex_withdraw_liquidity',
        source: user,
        sourceSecondary: null,
        destination: pool,
        asset: null,
        data: { dex_withdraw_liquidity_data: { amount1: 40n, amount2: null, lp_tokens_burnt: null } },
      },
    ]);
  });
});
