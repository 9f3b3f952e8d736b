import { Address, beginCell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import { accounts, bareBody, eventTrace, knownWallets, type Step } from '#test/support/event-traces.ts';

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

describe('a refund that a Cocoon client asks for', () => {
  const asked: Step = { to: client, body: bareBody(0xfafa6cc1), sends: [excesses, request] };

  it('goes over a wallet of its owner, or not', () => {
    const via: Step = { to: wallet, body: bareBody(0x9c69f376), sends: [asked] };
    expect(actionOf('cocoon_client_request_refund', asked)?.data).toMatchObject({
      cocoon_client_request_refund_data: { via_wallet: false },
    });
    const action = actionOf('cocoon_client_request_refund', via);
    expect(action?.data).toMatchObject({ cocoon_client_request_refund_data: { via_wallet: true } });
    expect(action).toMatchObject({ source: wallet, destination: client });
    expect(action?.accounts.toSorted()).toEqual([user, wallet, client, proxy].toSorted());
  });
});
