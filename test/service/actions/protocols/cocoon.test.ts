import { Address, beginCell, type Builder } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import { accounts, bareBody, eventTrace, knownWallets, open, type Step } from '#test/support/event-traces.ts';

const [user, wallet, client, proxy] = accounts(4);

const excesses: Step = { to: user, body: bareBody(0x2565934c) };
const request: Step = { to: proxy, body: bareBody(0x65448ff4) };

function actionOf(type: string, step: Step) {
  return classify(eventTrace(user, [step]), knownWallets({})).actions.find((one) => one.type === type);
}

/** An order of a proxy: the bits behind its numbers are read as an address, whatever they were meant to be. */
function chargeWith(bits: string): Step {
  const builder = beginCell().storeUint(0xbb63ff93, 32).storeUint(7, 64).storeUint(8, 64);
  for (const bit of bits) builder.storeBit(bit === '1');
  return { to: client, body: builder.endCell(), sends: [excesses, request] };
}

const id = '01'.repeat(128);

describe('a charge of a Cocoon client', () => {
  it.each([
    ['nothing', '00', null],
    ['a number and its length', '010000010100010110111', '10;b7'],
    ['an account', `10000000000${id}`, `0:${'55'.repeat(32)}`],
    ['an account, with an eye to nothing but its id', `10111111111${id}`, `-1:${'55'.repeat(32)}`],
    ['an account, even of another kind', `11000000001${id}`, `1:${'55'.repeat(32)}`],
  ])('shows the bits behind its numbers as %s', (_what, bits, expected) => {
    expect(actionOf('cocoon_proxy_charge', chargeWith(bits))).toMatchObject({
      source: client,
      destination: proxy,
      amount: 0n,
      data: { cocoon_proxy_charge_data: { query_id: 7n, new_tokens_used: 8n, expected_address: expected } },
      success: true,
    });
  });
});

describe('a payout of a Cocoon worker', () => {
  const numbers = beginCell().storeUint(0xa040ad28, 32).storeUint(7, 64).storeUint(8, 64).endCell();
  const worker = beginCell()
    .storeUint(0x4d725d2c, 32)
    .storeUint(7, 64)
    .storeAddress(Address.parse(user))
    .storeUint(1, 2)
    .storeUint(99, 64)
    .storeBit(false)
    .endCell();
  const payout = (aborted: boolean): Step => ({
    to: client,
    body: numbers,
    sends: [{ to: proxy, body: worker, sends: [{ to: user, body: bareBody(0xc59a7cd3), value: 5n, aborted }] }],
  });

  it.each([true, false])('needs nothing behind its numbers, and fails with what it pays: %s', (aborted) => {
    expect(actionOf('cocoon_worker_payout', payout(aborted))).toMatchObject({
      source: user,
      sourceSecondary: client,
      destination: user,
      amount: 5n,
      data: {
        cocoon_worker_payout_data: {
          payout_type: 'regular',
          query_id: 7n,
          new_tokens: 8n,
          worker_state: 1,
          worker_tokens: 99n,
        },
      },
      success: !aborted,
    });
  });
});

/** An order that names who gets what is left over. */
const ordered = (opcode: number, ...rest: readonly ((builder: Builder) => Builder)[]) =>
  rest
    .reduce((builder, store) => store(builder), open(opcode))
    .storeAddress(Address.parse(user))
    .endCell();

const paid: Step = { to: user, body: bareBody(0xc59a7cd3), value: 5n };

const via = (asked: Step): Step => ({ to: wallet, body: bareBody(0x9c69f376), sends: [asked] });

describe('an order of the owner of a Cocoon contract', () => {
  it('is a refund asked for, over a wallet of the owner or not', () => {
    const asked: Step = { to: client, body: ordered(0xfafa6cc1), sends: [excesses, request] };
    expect(actionOf('cocoon_client_request_refund', asked)).toMatchObject({
      source: user,
      data: { cocoon_client_request_refund_data: { query_id: 0n, via_wallet: false } },
    });
    const action = actionOf('cocoon_client_request_refund', via(asked));
    expect(action?.data).toMatchObject({ cocoon_client_request_refund_data: { via_wallet: true } });
    expect(action).toMatchObject({ source: user, destination: client, success: true });
    expect(action?.accounts.toSorted()).toEqual([user, wallet, client, proxy].toSorted());
  });

  it.each([
    ['cocoon_client_change_secret_hash', ordered(0xa9357034, (one) => one.storeUint(0xabc, 256))],
    ['cocoon_client_increase_stake', ordered(0x6a1f6a60, (one) => one.storeCoins(9))],
    ['cocoon_client_register', ordered(0xc45f9f3b, (one) => one.storeUint(3, 64))],
  ])('is one of the owner, whoever sent it: %s', (type, body) => {
    const asked: Step = { to: client, body, sends: [excesses, request] };
    expect(actionOf(type, via(asked))).toMatchObject({ source: user, destination: client });
  });

  it('tops a client up for the owner', () => {
    const body = ordered(0xf172e6c2, (one) => one.storeCoins(9));
    const step: Step = { to: client, body, sends: [{ ...request, sends: [excesses] }] };
    expect(actionOf('cocoon_client_top_up', via(step))).toMatchObject({
      source: user,
      destination: client,
      destinationSecondary: proxy,
      amount: 9n,
    });
  });

  const granted = open(0x65448ff4)
    .storeAddress(Address.parse(user))
    .storeRef(beginCell())
    .storeMaybeRef(beginCell().storeUint(0xc68ebc7b, 32).storeCoins(4).storeAddress(null).endCell())
    .endCell();

  it.each([
    ['what was granted', granted, 4n],
    ['nothing that can be told', bareBody(0x65448ff4), 0n],
  ])('withdraws %s', (_what, body, amount) => {
    const step: Step = { to: client, body: ordered(0xda068e78), sends: [{ to: proxy, body, sends: [paid] }] };
    expect(actionOf('cocoon_client_withdraw', step)).toMatchObject({
      source: user,
      destination: client,
      amount,
      data: { cocoon_client_withdraw_data: { withdraw_amount: amount } },
    });
  });

  it.each([false, true])('takes what a proxy earned, and fails with what it pays: %s', (aborted) => {
    const other: Step = { to: wallet, body: bareBody(0x2565934c) };
    const step: Step = { to: proxy, body: ordered(0x7610e6eb), sends: [{ ...paid, to: client, aborted }, other] };
    const action = actionOf('cocoon_proxy_payout', step);
    expect(action).toMatchObject({ source: proxy, destination: client, destinationSecondary: user });
    expect(action).toMatchObject({ amount: null, success: !aborted });
  });
});

describe('what a Cocoon proxy tells', () => {
  it('grants a refund that its client pays out', () => {
    const numbers = beginCell().storeUint(0xefd711e1, 32).storeUint(7, 64).storeUint(8, 64).storeUint(0, 2).endCell();
    const step: Step = {
      to: proxy,
      body: numbers,
      sends: [{ to: client, body: request.body, sends: [paid, excesses] }],
    };
    expect(actionOf('cocoon_grant_refund', step)).toMatchObject({
      source: proxy,
      sourceSecondary: client,
      destination: user,
      amount: 5n,
      data: { cocoon_grant_refund_data: { query_id: 7n, new_tokens_used: 8n, expected_address: null } },
    });
  });

  it.each([
    ['cocoon_register_proxy', bareBody(0x927c7cb5), { query_id: 0n }],
    ['cocoon_unregister_proxy', open(0x6d49eaf2).storeUint(6, 32).endCell(), { query_id: 0n, seqno: 6 }],
  ])('is known by its root alone: %s', (type, body, values) => {
    const action = actionOf(type, { to: proxy, body, sends: [excesses] });
    expect(action).toMatchObject({ source: null, destination: proxy, data: { [`${type}_data`]: values } });
  });
});
