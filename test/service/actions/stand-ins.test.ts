import { Address, beginCell, Cell } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { commentBody } from '#service/devchain/demo/tokens.ts';
import { elector, startScriptedNetwork, type ScriptedNetwork } from '#test/support/scripted-network.ts';
import { accounts, bareBody, open, type Step } from '#test/support/event-traces.ts';

// Actions of real traces whose contracts are stand-ins, with bodies laid out as the schemes of messages say.

let network: ScriptedNetwork;

beforeAll(async () => {
  network = await startScriptedNetwork();
});
afterAll(() => network.close());

const TON = 1_000_000_000n;
const raw = (name: string): string => network.address(name).toRawString().toUpperCase();

describe('subscriptions', () => {
  const [plugin, payee, wallet] = accounts(3);
  const payment: Step = { to: payee, body: bareBody(0x73756273), value: TON / 2n };

  it('are taken out by who pays the plugin, which pays the beneficiary', async () => {
    const { state, meant } = await network.act('w1', [{ to: plugin, body: bareBody(0xf06c7567), sends: [payment] }]);
    expect(state).toBe('ok');
    expect(meant).toMatchObject([
      {
        type: 'subscribe',
        source: raw('w1'),
        destination: payee,
        destinationSecondary: plugin,
        amount: TON,
        success: true,
      },
    ]);
    expect(meant[0]!.accounts.toSorted()).toEqual([raw('w1'), plugin, payee].toSorted());
    expect(meant[0]!.transactions).toHaveLength(3);
  });

  it('cost what the plugin asked the wallet for', async () => {
    const request = open(0x706c7567)
      .storeCoins(3n * TON)
      .storeUint(0, 1)
      .endCell();
    const answer: Step = { to: plugin, body: bareBody(0xf06c7567), value: 3n * TON + 7n, sends: [payment] };
    const asked: Step = { to: wallet, body: request, sends: [answer] };
    const { meant } = await network.act('w1', [{ to: plugin, body: commentBody('pay'), sends: [asked] }]);
    expect(meant).toMatchObject([
      { type: 'subscribe', source: wallet, destination: payee, destinationSecondary: plugin, amount: 3n * TON },
    ]);
  });

  it('are paid although the beneficiary does not take the payment', async () => {
    const refused = { ...payment, aborted: true };
    const { meant } = await network.act('w1', [{ to: plugin, body: bareBody(0xf06c7567), sends: [refused] }]);
    expect(meant).toMatchObject([{ type: 'subscribe', success: true }]);
  });

  it('end although the plugin refuses to destruct itself', async () => {
    const { meant } = await network.act('w1', [{ to: plugin, body: bareBody(0x64737472), aborted: true }]);
    expect(meant).toMatchObject([{ type: 'unsubscribe', destinationSecondary: plugin, success: true }]);
  });

  it.each([
    ['and the plugin gives the beneficiary what it has left', [{ to: payee, body: bareBody(0x64737472) }], payee],
    ['and nothing is left', [], null],
  ])('end when the plugin is told to destruct itself %s', async (_, sends, destination) => {
    const { meant } = await network.act('w1', [{ to: plugin, body: bareBody(0x64737472), sends }]);
    expect(meant).toMatchObject([
      {
        type: 'unsubscribe',
        source: raw('w1'),
        destination,
        destinationSecondary: plugin,
        amount: null,
        success: true,
      },
    ]);
  });
});

describe('elections', () => {
  const stake = open(0x4e73744b).storeUint(0, 256).storeUint(5, 32).endCell();
  const recover = bareBody(0x47657424);

  describe('at the real elector, which holds none', () => {
    it('refuse a stake', async () => {
      const { meant } = await network.act('mc', [{ to: elector, body: stake, value: 20n * TON }]);
      expect(meant).toMatchObject([
        { type: 'election_deposit', source: raw('mc'), destination: null, amount: 20n * TON, success: false },
      ]);
    });

    it('have nothing to give back', async () => {
      const { meant } = await network.act('mc', [{ to: elector, body: recover }]);
      expect(meant).toMatchObject([{ type: 'election_recover', source: raw('mc'), amount: null, success: false }]);
    });
  });

  describe('at one that agrees', () => {
    beforeAll(() => network.place(elector, {}));

    it('take a stake', async () => {
      const sends: Step[] = [{ to: raw('mc'), body: bareBody(0xf374484c) }];
      const { meant } = await network.act('mc', [{ to: elector, body: stake, value: 20n * TON, sends }]);
      expect(meant).toMatchObject([{ type: 'election_deposit', source: raw('mc'), amount: 20n * TON, success: true }]);
      expect(meant[0]!.accounts.toSorted()).toEqual([elector, raw('mc')].toSorted());
    });

    it('give a stake back', async () => {
      const sends: Step[] = [{ to: raw('mc'), body: bareBody(0xf96f7324), value: 30n * TON }];
      const { meant } = await network.act('mc', [{ to: elector, body: recover, sends }]);
      expect(meant).toMatchObject([{ type: 'election_recover', source: raw('mc'), amount: 30n * TON, success: true }]);
    });
  });
});

describe('ticks of the chain', () => {
  it('are an action with what came of them', async () => {
    const { state, actions, trace } = await network.tick([{ to: raw('mc'), body: commentBody('tick'), value: TON }]);
    expect(state).toBe('ok');
    expect(actions.map(({ type, source, destination }) => ({ type, source, destination }))).toEqual([
      { type: 'tick_tock', source: elector, destination: null },
      { type: 'ton_transfer', source: elector, destination: raw('mc') },
    ]);
    expect(actions[0]).toMatchObject({ accounts: [elector], transactions: [trace.traceId], success: true });
  });

  it('are none when nothing comes of them', async () => {
    const { state, actions, trace } = await network.tick([]);
    expect({ state, actions }).toEqual({ state: 'ok', actions: [] });
    expect(trace.transactions).toHaveLength(1);
  });
});

describe('discovery of items', () => {
  it('tells whose an item is and which, as the item itself reports', async () => {
    const { meant } = await network.act('w5', [{ to: raw('nft_1'), body: bareBody(0x2fcb26a2) }]);
    expect(meant).toMatchObject([
      {
        type: 'nft_discovery',
        source: raw('w5'),
        asset: raw('nft_collection'),
        assetSecondary: raw('nft_1'),
        data: { nft_transfer_data: { nft_item_index: 1n } },
        success: true,
      },
    ]);
    expect(meant[0]!.accounts.toSorted()).toEqual([raw('w5'), raw('nft_1')].toSorted());
  });

  it('is a call like others when the receiver reports nothing', async () => {
    const { actions } = await network.act('w5', [{ to: accounts(9)[8], body: bareBody(0x2fcb26a2) }]);
    expect(actions.map(({ type }) => type)).toEqual(['call_contract']);
  });
});

/** Before messages to a user's contract: coins, no reference, two bits. */
const toUser = (opcode: number) =>
  beginCell().storeCoins(1).storeBit(false).storeUint(0, 2).storeUint(opcode, 32).storeUint(0, 64);

const report = (opcode: number): Step => ({ to: raw('w3'), body: bareBody(opcode) });

const errorOf = (code: number): Cell => beginCell().storeUint(code, 32).endCell();

describe('liquidations at EVAA', () => {
  const [master, contract, borrower] = ['a1', 'a2', 'a3'].map((id) => `0:${id.toUpperCase().repeat(32)}`) as [
    string,
    string,
    string,
  ];
  const [collateral, debt] = [0xc0n, 0xdebn];
  const wanted = () =>
    open(0x03)
      .storeAddress(Address.parse(borrower))
      .storeAddress(network.address('w3'))
      .storeUint(collateral, 256)
      .storeUint(1, 64)
      .storeInt(-1, 2)
      .storeUint(50, 64)
      .endCell();
  const onUser = toUser(0x31).storeBit(false).storeBit(false).storeRef(beginCell()).endCell();
  const outcome = (opcode: number) =>
    open(opcode).storeAddress(Address.parse(borrower)).storeAddress(network.address('w3')).storeUint(debt, 256);
  const satisfied = () =>
    outcome(0x311)
      .storeRef(
        beginCell()
          .storeInt(-5, 64)
          .storeUint(500, 64)
          .storeUint(3, 64)
          .storeInt(-6, 64)
          .storeUint(collateral, 256)
          .storeInt(-7, 64)
          .storeUint(900, 64),
      )
      .endCell();
  const unsatisfied = (error: Cell) =>
    outcome(0x31f)
      .storeRef(
        beginCell()
          .storeUint(50, 64)
          .storeUint(collateral, 256)
          .storeUint(1, 64)
          .storeUint(1, 64)
          .storeRef(new Cell())
          .storeSlice(error.beginParse()),
      )
      .endCell();
  const liquidation = (answer: Step[]): Step => ({
    to: master,
    body: wanted(),
    sends: [{ to: contract, body: onUser, sends: answer }],
  });
  const common = () => ({
    type: 'evaa_liquidate',
    source: raw('w3'),
    destination: borrower,
    asset: String(collateral),
  });

  it('pay the reward out of the collateral', async () => {
    const back: Step[] = [{ to: contract, body: toUser(0x311a).endCell() }, report(0x311d)];
    const { state, meant } = await network.act('w3', [liquidation([{ to: master, body: satisfied(), sends: back }])]);
    expect(state).toBe('ok');
    expect(meant).toMatchObject([
      {
        ...common(),
        destinationSecondary: contract,
        amount: 900n,
        data: { evaa_liquidate_data: { fail_reason: null, debt_amount: 500n, asset_id: '0xc0' } },
        success: true,
      },
    ]);
    expect(meant[0]!.accounts.toSorted()).toEqual([raw('w3'), master, contract, borrower].toSorted());
  });

  it('are paid for with jettons too', async () => {
    const payload = beginCell()
      .storeUint(0x03, 32)
      .storeAddress(Address.parse(borrower))
      .storeAddress(network.address('w3'))
      .storeUint(collateral, 256);
    const transfer = open(0x0f8a7ea5)
      .storeCoins(50n)
      .storeAddress(Address.parse(master))
      .storeAddress(network.address('w3'))
      .storeBit(false)
      .storeCoins(TON)
      .storeBit(true)
      .storeRef(payload)
      .endCell();
    const back: Step[] = [{ to: contract, body: toUser(0x311a).endCell() }, report(0x311d)];
    const answer: Step[] = [{ to: master, body: satisfied(), sends: back }];
    const told: Step = { to: master, body: new Cell(), sends: [{ to: contract, body: onUser, sends: answer }] };
    const paid: Step = { to: raw('jetton_wallet_w3'), body: transfer, value: 3n * TON, sends: [told] };
    const { meant } = await network.act('w3', [paid]);
    expect(meant.map(({ type }) => type)).toEqual(['evaa_liquidate', 'jetton_transfer']);
    const [liquidated, payment] = meant;
    expect(liquidated).toMatchObject({
      ...common(),
      destinationSecondary: contract,
      amount: 900n,
      data: { evaa_liquidate_data: { fail_reason: null, debt_amount: 500n } },
      success: true,
    });
    expect(payment).toMatchObject({
      source: raw('w3'),
      destination: master,
      asset: raw('jetton_minter'),
      amount: 50n,
      parentActionId: liquidated!.actionId,
      ancestorTypes: ['evaa_liquidate'],
    });
  });

  it('fail when the master lacks what it would pay', async () => {
    const back: Step[] = [{ to: contract, body: bareBody(0x311f) }, report(0x311f)];
    const { meant } = await network.act('w3', [liquidation([{ to: master, body: satisfied(), sends: back }])]);
    const data = { evaa_liquidate_data: { fail_reason: 'master_not_enough_liquidity', debt_amount: 50n } };
    expect(meant).toMatchObject([{ ...common(), destinationSecondary: contract, amount: 0n, data, success: false }]);
  });

  it.each([
    [errorOf(0xe001), 'master_liquidating_too_much'],
    [errorOf(0xe002), 'user_withdraw_in_progress'],
    [errorOf(0xe003), 'not_liquidatable'],
    [errorOf(0xe004), 'execution_crashed'],
    [errorOf(0xe005), 'min_collateral_not_satisfied'],
    [errorOf(0xe006), 'user_not_enough_collateral'],
    [errorOf(0xe007), 'user_liquidating_too_much'],
    [errorOf(0xe008), 'master_not_enough_liquidity'],
    [errorOf(0xe009), 'liquidation_prices_missing'],
    [errorOf(0xe0ff), 'unknown'],
    [new Cell(), 'parse_error'],
  ])('fail for the reason that the user contract tells: %s', async (error, reason) => {
    const answer: Step = { to: master, body: unsatisfied(error), sends: [report(0x311f)] };
    const { meant } = await network.act('w3', [liquidation([answer])]);
    const data = { evaa_liquidate_data: { fail_reason: reason, debt_amount: 50n, asset_id: '0xc0' } };
    expect(meant).toMatchObject([{ ...common(), amount: 0n, data, success: false }]);
  });

  it('fail when the master does not even ask the user contract', async () => {
    const { meant } = await network.act('w3', [{ to: master, body: wanted(), aborted: true }]);
    expect(meant).toMatchObject([
      {
        ...common(),
        destinationSecondary: null,
        amount: 0n,
        data: { evaa_liquidate_data: { fail_reason: 'immediate_rejection', debt_amount: 50n, asset_id: '0xc0' } },
        success: false,
      },
    ]);
  });
});
