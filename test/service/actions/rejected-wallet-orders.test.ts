import { createHash } from 'node:crypto';

import { Address, beginCell, type Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import type { EventMessage, ClassifierTrace } from '#service/actions/engine/classifier-input.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { accounts, bareBody, eventTrace, knownWallets, transferOrder } from '#test/support/event-traces.ts';

const [wallet, receiver, jettonWallet, jetton] = accounts(4);

const at = (account: string): Address => Address.parse(account);

function openCell(cell: Cell): CellSlice {
  const boc = parseBoc(cell.toBoc());
  return new CellSlice(boc, boc.roots[0]!);
}

/** A message from outside that came to nothing, or to a log alone. */
function asked(body: Cell, { aborted = false, log }: { aborted?: boolean; log?: EventMessage } = {}): ClassifierTrace {
  const trace = eventTrace(wallet, []);
  const [root] = trace.transactions;
  const inMessage = { ...root!.inMessage!, body: openCell(body) };
  const outMessages = log === undefined ? [] : [log];
  return { ...trace, transactions: [{ ...root!, aborted, inMessage, outMessages }] };
}

const actionsOf = (trace: ClassifierTrace) =>
  classify(trace, knownWallets({ [jettonWallet]: { owner: wallet, jetton } })).actions;

/** `int_msg_info$0` as wallets order it: sender, fees and times are the chain's to fill. */
const order = (to: string, value: number, body = beginCell().endCell()): Cell =>
  beginCell()
    .storeUint(0x18, 6)
    .storeAddress(at(to))
    .storeCoins(value)
    .storeUint(1, 1 + 4 + 4 + 64 + 32 + 1 + 1)
    .storeRef(body)
    .endCell();
const toOutside = beginCell().storeUint(0b11, 2).storeUint(0, 4).storeUint(0, 96).storeUint(0, 2).endCell();

const signed = () => beginCell().storeUint(0, 512).storeUint(1, 32).storeUint(2, 32).storeUint(3, 32);

function wallet3(...orders: readonly Cell[]): Cell {
  return orders.reduce((builder, one) => builder.storeUint(3, 8).storeRef(one), signed()).endCell();
}

function wallet5(...orders: readonly Cell[]): Cell {
  const list = orders.reduce(
    (before, one) => beginCell().storeRef(before).storeUint(0x0ec3c86d, 32).storeUint(3, 8).storeRef(one).endCell(),
    beginCell().endCell(),
  );
  return beginCell().storeUint(0x7369676e, 32).storeUint(0, 96).storeMaybeRef(list).storeBit(false).endCell();
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64');
const idOf = (cell: Cell, index: number, type: string): string =>
  sha256(`${Buffer.from(`${cell.hash().toString('base64')}${index}`).toString('base64')}${type}`);

describe('orders of a wallet that came to nothing', () => {
  const one = order(receiver, 5);

  it('are failed actions, each named by its message and its place', () => {
    const actions = actionsOf(asked(wallet3(one, one)));
    expect(actions).toMatchObject(
      [0, 1].map((index) => ({
        type: 'ton_transfer',
        actionId: idOf(one, index, 'ton_transfer'),
        source: wallet,
        destination: receiver,
        value: 5n,
        accounts: [wallet],
        success: false,
      })),
    );
  });

  it('of a wallet of version 4 stand behind an operation', () => {
    const body = signed().storeUint(0, 8).storeUint(3, 8).storeRef(one).endCell();
    expect(actionsOf(asked(body))).toMatchObject([{ type: 'ton_transfer', destination: receiver }]);
  });

  it('of a wallet of version 5 count from the last', () => {
    const last = order(receiver, 6);
    expect(actionsOf(asked(wallet5(one, last)))).toMatchObject([
      { value: 6n, actionId: idOf(last, 0, 'ton_transfer') },
      { value: 5n, actionId: idOf(one, 1, 'ton_transfer') },
    ]);
  });

  it('tell of the jettons that were to go', () => {
    const transfer = transferOrder({ amount: 9n, to: receiver, from: null });
    expect(actionsOf(asked(wallet3(order(jettonWallet, 5, transfer))))).toMatchObject([
      {
        type: 'jetton_transfer',
        actionId: idOf(order(jettonWallet, 5, transfer), 0, 'jetton_transfer'),
        destination: receiver,
        asset: jetton,
        amount: 9n,
        accounts: [wallet, jettonWallet],
        success: false,
      },
    ]);
  });

  it.each([
    ['has an opcode', bareBody(5), 'call_contract', true],
    ['is to send jettons', transferOrder({ amount: 9n, to: receiver, from: null }), 'jetton_transfer', true],
    ['has none', beginCell().endCell(), 'ton_transfer', false],
  ])('without value fail only where they have no opcode: one that %s', (_what, body, type, success) => {
    expect(actionsOf(asked(wallet3(order(jettonWallet, 0, body))))).toMatchObject([{ type, success }]);
  });

  it('keep their places beside messages to the outside, which are none', () => {
    expect(actionsOf(asked(wallet3(toOutside, one)))).toMatchObject([{ actionId: idOf(one, 1, 'ton_transfer') }]);
  });
});

const log: EventMessage = {
  ...eventTrace(wallet, []).transactions[0]!.inMessage!,
  source: wallet,
  destination: null,
  createdLt: 9n,
  createdAt: 9,
};

describe('a trace of which nothing can be told', () => {
  it.each([false, true])('is unknown, and fails with its transactions: %s', (aborted) => {
    const trace = asked(bareBody(0x7369676e), { aborted });
    expect(actionsOf(trace)).toMatchObject([
      { type: 'unknown', actionId: trace.traceId, accounts: [wallet], success: !aborted },
    ]);
  });

  it('is unknown where a wallet ordered nothing but messages to the outside', () => {
    expect(actionsOf(asked(wallet3(toOutside)))).toMatchObject([{ type: 'unknown' }]);
  });

  it('is unknown where a message from outside brought a log alone', () => {
    const trace = asked(wallet3(order(receiver, 5)), { log });
    expect(actionsOf(trace)).toMatchObject([{ type: 'unknown', transactions: [trace.transactions[0]!.hash] }]);
  });

  it('has no actions where the chain itself began it', () => {
    const [root] = eventTrace(wallet, []).transactions;
    const ticked = { ...root!, kind: 'tick_tock', inMessage: null, outMessages: [log] };
    expect(actionsOf({ ...eventTrace(wallet, []), transactions: [ticked] })).toEqual([]);
  });
});
