import { Address, beginCell, type Builder, type Cell } from '@ton/core';
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
} from '#test/support/event-traces.ts';

const [
  user,
  userWallet,
  vault,
  vaultWallet,
  tonVault,
  pool,
  factory,
  creator,
  shareWallet,
  jetton,
  shares,
  other,
  friend,
  queue,
  queueWallet,
] = accounts(15);

const interfaces = knownWallets({
  [userWallet]: { owner: user, jetton },
  [vaultWallet]: { owner: vault, jetton },
  [shareWallet]: { owner: user, jetton: shares },
  [queueWallet]: { owner: queue, jetton },
});
const at = (account: string): Address => Address.parse(account);

function actionOf(type: string, step: Step) {
  return classify(eventTrace(user, [step]), interfaces).actions.find((one) => one.type === type);
}

const ton = (builder: Builder): Builder => builder.storeUint(0, 2);
const asset = (account: string) => (builder: Builder) =>
  builder
    .storeUint(1, 2)
    .storeUint(0, 8)
    .storeBuffer(Buffer.from(account.slice(2), 'hex'));

const payoutTo = (recipient: string, amount: number): Cell =>
  open(0xc0ffee21).storeAddress(at(recipient)).storeCoins(amount).endCell();

/** A pool has the vault of TON pay, which it does with a message of this kind. */
const tonPaid = (opcode: number, amount: number, value: bigint): Step => ({
  to: tonVault,
  body: payoutTo(user, amount),
  sends: [{ to: user, body: bareBody(opcode), value }],
});
const jettonsPaid = (amount: number): Step => ({
  to: vault,
  body: payoutTo(user, amount),
  sends: [
    jettonTransfer({
      wallet: vaultWallet,
      to: { wallet: userWallet, owner: user },
      from: vault,
      amount: BigInt(amount),
    }),
  ],
});
/** Jettons into their vault. */
const jettonsIn = (sends: readonly Step[]): Step =>
  jettonTransfer({ wallet: userWallet, to: { wallet: vaultWallet, owner: vault }, from: user, amount: 100n, sends });

describe('a swap at Coffee for TON', () => {
  const event = asset(jetton)(open(0xc0ffee30)).storeCoins(100).storeCoins(45).endCell();
  const swap = (paid: Step): Step =>
    jettonsIn([{ to: pool, body: bareBody(0xc0ffee20), sends: [paid], logs: [event] }]);
  const outgoing = { asset: null, destination: user, source_jetton_wallet: null };

  it('brings what the vault was told to pay', () => {
    expect(actionOf('jetton_swap', swap(tonPaid(0xc0ffee32, 45, 50n)))?.data).toMatchObject({
      jetton_swap_data: { dex_outgoing_transfer: { ...outgoing, amount: 45n, source: pool } },
    });
  });

  it('brings what came where the vault told somebody of it', () => {
    expect(actionOf('jetton_swap', swap(tonPaid(0xc0ffee36, 45, 50n)))?.data).toMatchObject({
      jetton_swap_data: { dex_outgoing_transfer: { ...outgoing, amount: 50n, source: tonVault } },
    });
  });
});

const assetsOf = (first: typeof ton, second: typeof ton): Cell => second(first(beginCell())).endCell();

describe('a deposit at Coffee', () => {
  const told = open(0xc0ffee33).storeCoins(1).storeCoins(2).storeCoins(77).endCell();
  const deposit = (assets: Cell, paid: readonly Step[] = []): Step => {
    const asked = open(0xc0ffee27)
      .storeCoins(99)
      .storeRef(beginCell())
      .storeRef(assets)
      .storeAddress(at(friend))
      .endCell();
    const minted: Step = { to: shareWallet, body: mintedJettons(70n) };
    const filled: Step = { to: pool, body: bareBody(0xc0ffee29), sends: [minted, ...paid], logs: [told] };
    const deployed: Step = { to: creator, body: bareBody(0xc0ffee22), sends: [filled] };
    return jettonsIn([{ to: factory, body: asked, sends: [deployed] }]);
  };

  it('is of whom and of how much the vault says, with what came back', () => {
    const action = actionOf(
      'dex_deposit_liquidity',
      deposit(assetsOf(ton, asset(jetton)), [tonPaid(0xc0ffee32, 4, 5n)]),
    );
    expect(action).toMatchObject({ source: friend, destination: pool, destinationSecondary: creator, success: true });
    expect(action?.data['dex_deposit_liquidity_data']).toMatchObject({
      amount1: null,
      asset2: jetton,
      amount2: 99n,
      user_jetton_wallet_2: userWallet,
      lp_tokens_minted: 77n,
      target_asset_1: jetton,
      target_asset_2: null,
      vault_excesses: [{ asset: null, amount: 5n }],
    });
  });

  it('is none when the pool does not have what came', () => {
    expect(actionOf('dex_deposit_liquidity', deposit(assetsOf(ton, asset(other))))).toBeUndefined();
  });
});

describe('a withdrawal from Coffee', () => {
  const burnt = open(0x595f07bc).storeCoins(70).storeAddress(at(user)).endCell();
  const told = open(0xc0ffee35).storeCoins(45).storeCoins(9).storeCoins(70).endCell();

  it('is paid by order of the pool, in TON to the user and in jettons to a wallet', () => {
    const paid = [tonPaid(0xc0ffee32, 45, 50n), jettonsPaid(9)];
    const burn: Step = {
      to: shareWallet,
      body: burnt,
      sends: [{ to: pool, body: bareBody(0x7bdd97de), sends: paid, logs: [told] }],
    };
    const action = actionOf('dex_withdraw_liquidity', burn);
    expect(action).toMatchObject({ source: user, sourceSecondary: shareWallet, destination: pool, asset: shares });
    expect(action?.data['dex_withdraw_liquidity_data']).toMatchObject({
      amount1: 45n,
      asset1_out: null,
      user_jetton_wallet_1: user,
      dex_jetton_wallet_1: null,
      dex_wallet_1: pool,
      amount2: 9n,
      asset2_out: jetton,
      user_jetton_wallet_2: userWallet,
      dex_jetton_wallet_2: vaultWallet,
      dex_wallet_2: pool,
      lp_tokens_burnt: 70n,
    });
  });
});

describe('a new pool at Coffee', () => {
  const told = open(0xc0ffee33).storeCoins(1).storeCoins(2).storeCoins(77).endCell();
  const created = (isSecond: boolean, into = jettonsIn): Step => {
    const start = open(0xc0ffee23).storeCoins(100);
    const assets = isSecond ? asset(jetton)(ton(start)) : ton(asset(jetton)(start));
    const asked = assets
      .storeUint(1, 3)
      .storeMaybeRef(beginCell().storeAddress(at(other)).endCell())
      .storeRef(beginCell().storeAddress(at(friend)))
      .storeAddress(at(user))
      .endCell();
    const request = open(0xc0ffee25).storeCoins(11).storeCoins(22).storeAddress(at(friend)).endCell();
    const minted: Step = { to: shareWallet, body: mintedJettons(70n) };
    const deployed: Step = { to: pool, body: bareBody(0xc0ffee22), sends: [minted], logs: [told] };
    const made: Step = { to: factory, body: request, sends: [deployed] };
    return into([{ to: factory, body: asked, sends: [{ to: creator, body: bareBody(0xc0ffee22), sends: [made] }] }]);
  };

  it('is for whom its parameters say, whatever its settings', () => {
    expect(actionOf('coffee_create_pool_creator', created(false))).toMatchObject({
      source: user,
      destination: friend,
      destinationSecondary: creator,
      asset: jetton,
      asset2: jetton,
      asset2Secondary: null,
      amount: 100n,
    });
  });

  it('is not told when it was paid in another currency', () => {
    const extra = ton(asset(jetton)(open(0xc0ffee03))).endCell();
    const paidIn = (sends: readonly Step[]): Step => ({ to: vault, body: extra, sends });
    expect(actionOf('coffee_create_pool_creator', created(false, paidIn))).toBeUndefined();
  });

  it.each([
    [false, { amount_1: 11n, amount_2: 22n, initiator_1: user, initiator_2: friend }],
    [true, { amount_1: 22n, amount_2: 11n, initiator_1: friend, initiator_2: user }],
  ])('tells amounts and who brought them by the asset that came, the second one or not: %s', (isSecond, values) => {
    expect(actionOf('coffee_create_pool', created(isSecond))).toMatchObject({
      source: user,
      destination: pool,
      asset: jetton,
      asset2: null,
      data: { coffee_create_pool_data: { ...values, provided_asset: jetton, lp_tokens_minted: 77n } },
    });
  });
});

const carrying = (opcode: number): Step => {
  const to = { wallet: queueWallet, owner: queue };
  const payload = beginCell().storeUint(opcode, 32).endCell();
  return jettonTransfer({ wallet: userWallet, to, from: user, amount: 100n, payload });
};

describe('a swap at Coffee that nobody may run ahead of', () => {
  it('holds jettons, without a wallet of who holds them', () => {
    expect(actionOf('coffee_mev_protect_hold_funds', carrying(0x6bc79e7e))).toMatchObject({
      source: user,
      sourceSecondary: userWallet,
      destination: queue,
      destinationSecondary: null,
      asset: jetton,
      amount: 100n,
    });
  });

  it('holds TON', () => {
    const step: Step = { to: queue, body: bareBody(0x6bc79e7e), value: 7n };
    expect(actionOf('coffee_mev_protect_hold_funds', step)).toMatchObject({
      source: user,
      destination: queue,
      asset: null,
      amount: 7n,
    });
  });

  it('is known to have failed, and nothing else of it', () => {
    expect(actionOf('coffee_mev_protect_failed_swap', carrying(0xee51ce51))).toMatchObject({
      source: null,
      destination: null,
      asset: null,
      amount: null,
      data: {},
    });
  });
});
