import { Address, beginCell, type Builder, type Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import type { Interfaces } from '#service/actions/engine/interfaces.ts';
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

const [user, userWallet, router, routerWallet, proxyWallet, pool, admin, jetton, otherJetton] = accounts(9);

const proxyTon = '0:949C4C66760C002800E2FA3D8A3CA4E1C90A9373B53AE7472033483BF14CD95E';
const jettonWallets = {
  [userWallet]: { owner: user, jetton },
  [routerWallet]: { owner: router, jetton },
};
const at = (account: string): Address => Address.parse(account);

function actionsOf(step: Step, wallets = jettonWallets) {
  return classify(eventTrace(user, [step]), knownWallets(wallets)).actions;
}

/** Fees of a pool. */
const terms = (builder: Builder): Builder => builder.storeUint(1, 16).storeUint(30, 16).storeUint(25, 16);

describe('a new pool of TONCO', () => {
  const content = beginCell().endCell();
  const init = (isActive: boolean): Cell =>
    terms(
      open(0x441c39ed)
        .storeBit(true)
        .storeBit(true)
        .storeAddress(at(admin))
        .storeBit(false)
        .storeAddress(null)
        .storeBit(true)
        .storeInt(60, 24)
        .storeBit(true)
        .storeUint(1n << 96n, 160)
        .storeBit(true)
        .storeBit(isActive),
    ).endCell();
  const order = (): Builder =>
    open(0x2e3034ef)
      .storeAddress(at(routerWallet))
      .storeAddress(at(proxyWallet))
      .storeInt(60, 24)
      .storeUint(1n << 96n, 160);
  const minters = beginCell().storeAddress(at(jetton)).storeAddress(at(otherJetton)).storeAddress(null);
  const create = (isActive: boolean): Step => ({
    to: router,
    body: terms(order()).storeRef(content).storeRef(content).storeRef(minters).endCell(),
    sends: [{ to: pool, body: init(isActive) }],
  });

  it.each([true, false])('is told by its router, with the pool beside it, active or not: %s', (isActive) => {
    expect(actionsOf(create(isActive)).find(({ type }) => type === 'tonco_deploy_pool')).toMatchObject({
      source: user,
      destination: router,
      destinationSecondary: pool,
      data: {
        tonco_deploy_pool_data: {
          jetton0_router_wallet: routerWallet,
          jetton1_router_wallet: proxyWallet,
          jetton0_minter: jetton,
          jetton1_minter: otherJetton,
          tick_spacing: '60',
          initial_price_x96: 1n << 96n,
          protocol_fee: '1',
          lp_fee_base: '30',
          lp_fee_current: '25',
          pool_active: isActive,
        },
      },
      success: true,
    });
  });

  it('is none when the pool was told something else', () => {
    const step = { ...create(true), sends: [{ to: pool, body: bareBody(0x441c39ed) }] };
    expect(actionsOf(step).map(({ type }) => type)).not.toContain('tonco_deploy_pool');
  });
});

const proxyCalls = (actions: ReturnType<typeof actionsOf>) => actions.filter(({ opcode }) => opcode === 0x01f3835d);

/** TON out of the router, by way of its proxy. */
const tonOut = transferOrder({ amount: 45n, to: user, from: user });

describe('a swap at TONCO for TON', () => {
  const swapBody = open(0xa7fb58f8)
    .storeAddress(at(user))
    .storeAddress(at(routerWallet))
    .storeRef(beginCell().storeCoins(100).storeUint(0, 160).storeCoins(40))
    .endCell();
  const payTo = open(0xa1daa96d)
    .storeAddress(at(user))
    .storeAddress(at(user))
    .storeUint(200, 32)
    .storeUint(0, 64)
    .storeMaybeRef(
      beginCell().storeCoins(0).storeAddress(at(routerWallet)).storeCoins(45).storeAddress(at(proxyWallet)).endCell(),
    )
    .endCell();
  const ton = open(0x01f3835d).storeCoins(45).storeAddress(at(user)).storeBit(false).endCell();
  const paid: Step = { to: proxyWallet, body: tonOut, sends: [{ to: user, body: ton, value: 45n }] };
  const swap = jettonTransfer({
    wallet: userWallet,
    to: { wallet: routerWallet, owner: router },
    from: user,
    amount: 100n,
    sends: [{ to: pool, body: swapBody, sends: [{ to: router, body: payTo, sends: [paid] }] }],
  });
  const told = {
    type: 'jetton_swap',
    asset: jetton,
    asset2: null,
    data: {
      jetton_swap_data: {
        dex: 'tonco',
        dex_outgoing_transfer: { amount: 45n, asset: null, destination: user },
        min_out_amount: 45n,
      },
    },
    success: true,
  };

  it('has the TON that the proxy pays out in it', () => {
    const actions = actionsOf(swap, { ...jettonWallets, [proxyWallet]: { owner: router, jetton: proxyTon } });
    expect(actions[0]).toMatchObject(told);
    expect(proxyCalls(actions)).toEqual([]);
  });

  it('has it where the proxy is not known, too', () => {
    const actions = actionsOf(swap);
    expect(actions[0]).toMatchObject(told);
    expect(proxyCalls(actions)).toEqual([]);
  });
});

const orderFor = (wallet: string, least: number, next: Cell | null = null, to: Address | null = at(user)): Cell =>
  beginCell()
    .storeUint(0xa7fb58f8, 32)
    .storeAddress(at(wallet))
    .storeUint(0, 160)
    .storeCoins(least)
    .storeAddress(to)
    .storeMaybeRef(next)
    .endCell();

const swapAt = (account: string, exitCode: number, amount: bigint, token: string, sends: readonly Step[]): Step => {
  const out = beginCell().storeCoins(amount).storeAddress(at(token)).storeCoins(0).storeAddress(at(routerWallet));
  const paid = open(0xa1daa96d)
    .storeAddress(at(user))
    .storeAddress(at(user))
    .storeUint(exitCode, 32)
    .storeUint(0, 64)
    .storeMaybeRef(out.endCell())
    .endCell();
  const body = open(0xa7fb58f8)
    .storeAddress(at(user))
    .storeAddress(at(routerWallet))
    .storeRef(beginCell().storeCoins(100).storeUint(0, 160).storeCoins(7))
    .endCell();
  return { to: account, body, sends: [{ to: router, body: paid, sends }] };
};

describe('a swap at TONCO that fails', () => {
  const [nextPool, middleWallet, otherWallet, middle] = accounts(13).slice(9);
  const wallets = {
    ...jettonWallets,
    [middleWallet!]: { owner: router, jetton: middle! },
    [otherWallet!]: { owner: router, jetton: otherJetton },
  };
  /** Jettons into the router, with an order for middle and other jettons one after the other. */
  const ordered = (sends: readonly Step[]): Step => {
    const to = { wallet: routerWallet, owner: router };
    const payload = orderFor(middleWallet!, 60, orderFor(otherWallet!, 40));
    return jettonTransfer({ wallet: userWallet, to, from: user, amount: 100n, payload, sends });
  };
  const paidTo = (wallet: string, owner: string, from: string, amount: bigint, sends: readonly Step[] = []): Step =>
    jettonTransfer({ wallet: from, to: { wallet, owner }, from: router, amount, sends });

  it('tells of jettons what came back, whatever their order says', () => {
    const back = paidTo(userWallet, user, routerWallet, 100n);
    const [swap] = actionsOf(ordered([swapAt(pool, 201, 100n, routerWallet, [back])]), wallets);
    expect(swap).toMatchObject({
      type: 'jetton_swap',
      asset: jetton,
      asset2: jetton,
      success: false,
      data: {
        jetton_swap_data: {
          dex_outgoing_transfer: { asset: jetton, amount: 100n },
          peer_swaps: [],
          min_out_amount: 100n,
        },
      },
    });
  });

  it.each([
    ['in a cell of its own', (proxied: Builder, order: Cell) => proxied.storeBit(true).storeRef(order)],
    ['in place', (proxied: Builder, order: Cell) => proxied.storeBit(false).storeSlice(order.beginParse())],
  ])('names what the last pool was to bring for TON, and how much, where the order lies %s', (_how, carry) => {
    const order = orderFor(middleWallet!, 60, orderFor(otherWallet!, 40), null);
    const known = { ...wallets, [proxyWallet]: { owner: router, jetton: proxyTon } };
    const back: Step = { to: proxyWallet, body: transferOrder({ amount: 100n, to: user, from: user }) };
    const sends = [swapAt(pool, 201, 100n, proxyWallet, [back])];
    const notified: Step = { to: router, body: bareBody(0x7362d09c), sends };
    const body = carry(open(0x01f3835d).storeCoins(100).storeAddress(at(user)), order).endCell();
    expect(actionsOf({ to: proxyWallet, body, sends: [notified] }, known)[0]).toMatchObject({
      type: 'jetton_swap',
      asset: null,
      asset2: otherJetton,
      success: false,
      data: { jetton_swap_data: { min_out_amount: 40n } },
    });
  });

  it('tells the pools that swapped before', () => {
    const back = paidTo(userWallet, user, middleWallet!, 60n);
    const again = swapAt(nextPool!, 201, 60n, middleWallet!, [back]);
    const onward = paidTo(middleWallet!, router, middleWallet!, 60n, [again]);
    const [swap] = actionsOf(ordered([swapAt(pool, 200, 60n, middleWallet!, [onward])]), wallets);
    expect(swap).toMatchObject({
      asset2: jetton,
      success: false,
      data: {
        jetton_swap_data: {
          peer_swaps: [{ asset_in: jetton, amount_in: 100n, asset_out: middle, amount_out: 60n }],
          min_out_amount: 60n,
        },
      },
    });
  });
});

describe('a swap at TONCO over two pools', () => {
  const [nextPool, middleWallet, otherWallet, otherUserWallet, middle] = accounts(14).slice(9);
  const wallets = {
    ...jettonWallets,
    [middleWallet!]: { owner: router, jetton: middle! },
    [otherWallet!]: { owner: router, jetton: otherJetton },
    [otherUserWallet!]: { owner: user, jetton: otherJetton },
  };
  const paidTo = (wallet: string, owner: string, from: string, amount: bigint, sends: readonly Step[] = []): Step =>
    jettonTransfer({ wallet: from, to: { wallet, owner }, from: router, amount, sends });

  it('brings what the last pool paid, whatever the first gives back of what it could not use', () => {
    const brought = paidTo(otherUserWallet!, user, otherWallet!, 40n);
    const again = swapAt(nextPool!, 200, 40n, otherWallet!, [brought]);
    const onward = paidTo(middleWallet!, router, middleWallet!, 60n, [again]);
    const back = paidTo(userWallet, user, routerWallet, 5n);
    const sends = [swapAt(pool, 200, 60n, middleWallet!, [onward, back])];
    const into = { wallet: routerWallet, owner: router };
    const [swap] = actionsOf(
      jettonTransfer({ wallet: userWallet, to: into, from: user, amount: 100n, sends }),
      wallets,
    );
    expect(swap).toMatchObject({
      type: 'jetton_swap',
      asset2: otherJetton,
      success: true,
      data: {
        jetton_swap_data: {
          dex_outgoing_transfer: { asset: otherJetton, amount: 40n, destination_jetton_wallet: otherUserWallet },
          min_out_amount: 40n,
        },
      },
    });
  });
});

describe('a swap at TONCO whose second pool pays nothing', () => {
  it('ends before it', () => {
    const [nextPool, middleWallet, middle] = accounts(12).slice(9);
    const wallets = { ...jettonWallets, [middleWallet!]: { owner: router, jetton: middle! } };
    const to = { wallet: routerWallet, owner: router };
    const again = swapAt(nextPool!, 200, 40n, routerWallet, []);
    const onward = jettonTransfer({
      wallet: middleWallet!,
      to: { wallet: middleWallet!, owner: router },
      from: router,
      amount: 60n,
      sends: [again],
    });
    const sends = [swapAt(pool, 200, 60n, middleWallet!, [onward])];
    const actions = actionsOf(jettonTransfer({ wallet: userWallet, to, from: user, amount: 100n, sends }), wallets);
    expect(actions.map(({ type }) => type)).toEqual(['jetton_swap', 'call_contract', 'call_contract']);
    expect(actions[0]).toMatchObject({
      asset2: middle,
      data: { jetton_swap_data: { min_out_amount: 60n, peer_swaps: [] } },
    });
  });
});

const amounts = (builder: Builder): Builder => builder.storeCoins(100).storeCoins(0).storeCoins(90).storeCoins(40);
const range = (builder: Builder): Builder => builder.storeUint(70, 128).storeInt(-5, 24).storeInt(5, 24);

describe('a deposit at TONCO', () => {
  const [account, item] = accounts(16).slice(14);
  const payload = beginCell().storeUint(0x4468de77, 32).storeAddress(at(proxyWallet)).endCell();
  const fund = range(amounts(open(0x4468de77).storeAddress(at(user)))).endCell();
  const position = range(open(0xd5ecca2a).storeAddress(at(user)))
    .storeRef(beginCell().storeUint(0, 256).storeUint(0, 256).storeUint(3, 64))
    .endCell();
  /** The router is to give back 10 jettons and 4 TON. */
  const back = open(0xa1daa96d)
    .storeAddress(at(user))
    .storeAddress(at(user))
    .storeUint(0, 32)
    .storeUint(0, 64)
    .storeMaybeRef(
      beginCell().storeCoins(10).storeAddress(at(routerWallet)).storeCoins(4).storeAddress(at(proxyWallet)).endCell(),
    )
    .endCell();
  const ton = open(0x01f3835d).storeCoins(4).storeAddress(at(user)).storeBit(false).endCell();
  const tonBack: Step = { to: proxyWallet, body: tonOut, sends: [{ to: user, body: ton }] };
  const to = { wallet: userWallet, owner: user };
  const jettonsBack = jettonTransfer({ wallet: routerWallet, to, from: router, amount: 10n });
  const deposit = (refunds: readonly Step[]): Step => {
    const made: Step = { to: item!, body: position, init: beginCell().endCell() };
    const mint: Step = {
      to: pool,
      body: bareBody(0x81702ef8),
      sends: [{ to: router, body: back, sends: refunds }, made],
    };
    const added: Step = { to: account!, body: range(amounts(open(0x3ebe5431))).endCell(), sends: [mint] };
    const into = { wallet: routerWallet, owner: router };
    const sends = [{ to: pool, body: fund, sends: [added] }];
    return jettonTransfer({ wallet: userWallet, to: into, from: user, amount: 100n, payload, sends });
  };
  const interfaces: Interfaces = {
    ...knownWallets({ ...jettonWallets, [proxyWallet]: { owner: router, jetton: proxyTon } }),
    nftItem: (one) =>
      one === item ? { index: 3n, collection: pool, owner: user, content: null, codeHash: null } : undefined,
  };
  const depositOf = (step: Step) =>
    classify(eventTrace(user, [step]), interfaces).actions.find(({ type }) => type === 'dex_deposit_liquidity');

  it('tells the position that was made, and what came back', () => {
    expect(depositOf(deposit([jettonsBack, tonBack]))).toMatchObject({
      source: user,
      sourceSecondary: userWallet,
      destination: pool,
      destinationSecondary: account,
      data: {
        dex_deposit_liquidity_data: {
          dex: 'tonco',
          amount1: 100n,
          asset1: jetton,
          amount2: null,
          user_jetton_wallet_1: userWallet,
          lp_tokens_minted: 70n,
          target_asset_1: jetton,
          target_asset_2: null,
          target_amount_1: 90n,
          target_amount_2: 40n,
          vault_excesses: [
            { asset: jetton, amount: 10n },
            { asset: null, amount: 4n },
          ],
          nft_index: 3n,
          nft_address: item,
        },
      },
      success: true,
    });
  });

  it('a deposit has no amount for a refund that did not come', () => {
    expect(depositOf(deposit([tonBack]))?.data['dex_deposit_liquidity_data']).toMatchObject({
      vault_excesses: [{ asset: null, amount: 4n }],
    });
  });
});

describe('a withdrawal from TONCO', () => {
  const [position] = accounts(14).slice(13);
  const wallets = { ...jettonWallets, [proxyWallet]: { owner: router, jetton: proxyTon } };
  const ton = open(0x01f3835d).storeCoins(44).storeAddress(at(user)).storeBit(false).endCell();
  const tonPaid: Step = { to: proxyWallet, body: tonOut, sends: [{ to: user, body: ton }] };
  const to = { wallet: userWallet, owner: user };
  const jettonsPaid = jettonTransfer({ wallet: routerWallet, to, from: router, amount: 9n });
  /** The pool knows jettons first, then TON. */
  const withdrawal = (paid: readonly Step[], index: number, tonWallet: string = proxyWallet): Step => {
    const out = beginCell().storeCoins(10).storeAddress(at(routerWallet)).storeCoins(45).storeAddress(at(tonWallet));
    const pay = open(0xa1daa96d)
      .storeAddress(at(user))
      .storeAddress(at(user))
      .storeUint(201, 32)
      .storeUint(0, 64)
      .storeMaybeRef(out.endCell())
      .endCell();
    const burnt = open(0xd73ac09d).storeAddress(at(user)).storeUint(index, 64).endCell();
    const start = open(0x530b5f2c).storeUint(6, 64).storeUint(1000, 128).storeInt(-5, 24).storeInt(5, 24).endCell();
    const paying: Step = { to: router, body: pay, sends: paid };
    const burning: Step = { to: pool, body: burnt, sends: [paying] };
    const owned = open(0x46ca335a).storeAddress(at(user)).endCell();
    return { to: pool, body: start, sends: [{ to: position!, body: owned, sends: [burning] }] };
  };
  const dataOf = (step: Step, known: typeof jettonWallets = wallets) =>
    actionsOf(step, known).find(({ type }) => type === 'dex_withdraw_liquidity')?.data['dex_withdraw_liquidity_data'];
  const jettons = {
    amount1: 9n,
    asset1_out: jetton,
    user_jetton_wallet_1: userWallet,
    dex_jetton_wallet_1: routerWallet,
    dex_wallet_1: router,
  };
  const tons = {
    amount2: 44n,
    asset2_out: null,
    user_jetton_wallet_2: null,
    dex_jetton_wallet_2: null,
    dex_wallet_2: router,
  };

  it.each([
    ['in the order of the pool', [jettonsPaid, tonPaid]],
    ['in another order', [tonPaid, jettonsPaid]],
  ])('tells both assets that the router paid %s', (_how, paid) => {
    expect(dataOf(withdrawal(paid, 7))).toMatchObject({ ...jettons, ...tons, burned_nft_index: 7n });
  });

  it('tells of an asset that was not paid what the pool said', () => {
    expect(dataOf(withdrawal([jettonsPaid], 0))).toMatchObject({
      ...jettons,
      amount2: 45n,
      asset2_out: null,
      user_jetton_wallet_2: user,
      dex_jetton_wallet_2: null,
      dex_wallet_2: pool,
      burned_nft_index: 6n,
    });
  });

  it('names the wallet of an asset that was not paid and is not known', () => {
    expect(dataOf(withdrawal([jettonsPaid], 0), jettonWallets)).toMatchObject({
      ...jettons,
      asset2_out: null,
      dex_jetton_wallet_2: proxyWallet,
    });
  });

  it('names no wallet of TON that was not paid when it is the one that the router keeps its TON in', () => {
    const wrapped = '0:871DA9215B14902166F0EA2A16DB56278D528108377F8158C5F4CCFDFDD22E17';
    expect(dataOf(withdrawal([jettonsPaid], 0, wrapped), jettonWallets)).toMatchObject({
      ...jettons,
      amount2: 45n,
      asset2_out: null,
      user_jetton_wallet_2: user,
      dex_jetton_wallet_2: null,
    });
  });
});
