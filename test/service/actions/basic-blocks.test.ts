import { beginCell, type Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import { accounts, eventTrace, knownWallets } from '#test/support/event-traces.ts';

const [sender, receiver] = accounts(2);

const ENCRYPTED = 0x2167da4b;
const body = (opcode: number) => beginCell().storeUint(opcode, 32);

function transferWith(sent: Cell) {
  return classify(eventTrace(sender, [{ to: receiver, body: sent }]), knownWallets({})).actions[0];
}

describe('a deployment', () => {
  const deploy = { to: receiver, body: body(1).endCell(), init: beginCell().endCell() };

  it.each([false, true])('fails with the transaction that it happened in: %s', (aborted) => {
    const { actions } = classify(eventTrace(sender, [{ ...deploy, aborted }]), knownWallets({}));
    expect(actions.filter(({ type }) => type === 'contract_deploy')).toMatchObject([
      { source: sender, destination: receiver, success: !aborted },
    ]);
  });
});

describe('a tick of the chain', () => {
  it.each([false, true])('fails with its transaction: %s', (aborted) => {
    const trace = eventTrace(sender, [{ to: receiver, body: body(1).endCell() }]);
    const [root, ...others] = trace.transactions;
    const ticked = { ...root!, kind: 'tick_tock', inMessage: null, aborted };
    const { actions } = classify({ ...trace, transactions: [ticked, ...others] }, knownWallets({}));
    expect(actions.filter(({ type }) => type === 'tick_tock')).toMatchObject([{ source: sender, success: !aborted }]);
  });
});

describe('the comment of a transfer', () => {
  it.each([
    ['text', body(0).storeStringTail('hello').endCell(), 'hello', false],
    ['text over several cells', body(0).storeStringTail('long '.repeat(60)).endCell(), 'long '.repeat(60), false],
    [
      'text without zeros and with broken bytes shown',
      body(0).storeBuffer(Buffer.from('a\0\xff', 'latin1')).endCell(),
      'a\\xff',
      false,
    ],
    ['encrypted bytes', body(ENCRYPTED).storeUint(0x010203, 24).endCell(), 'AQID', true],
    ['none where nothing follows', body(0).endCell(), null, false],
    ['none where nothing encrypted follows', body(ENCRYPTED).endCell(), null, true],
    ['none in a reference alone', body(0).storeRef(beginCell().storeUint(1, 8)).endCell(), null, false],
    ['none of half bytes', body(0).storeUint(1, 12).endCell(), null, false],
    [
      'none beside two references',
      body(0).storeUint(65, 8).storeRef(beginCell()).storeRef(beginCell()).endCell(),
      null,
      false,
    ],
    ['none in an empty body', beginCell().endCell(), null, false],
  ])('is %s', (_what, sent, content, encrypted) => {
    expect(transferWith(sent)).toMatchObject({
      type: 'ton_transfer',
      data: { ton_transfer_data: { content, encrypted } },
    });
  });
});
