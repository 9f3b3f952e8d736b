import { beginCell, type Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { escapedText } from '#service/actions/engine/basic-blocks.ts';
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

  it.each([false, true])('a deployment fails exactly if its transaction is aborted: %s', (aborted) => {
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

describe('a text that is no UTF-8', () => {
  it.each<[string, readonly number[], string]>([
    ['a sequence that breaks off', [0x41, 0xe2, 0x82, 0x42], 'A\\xe2\\x82B'],
    ['a sequence that ends with the text', [0xf0, 0x9f, 0x98], '\\xf0\\x9f\\x98'],
    [
      'too long a form',
      [0xc0, 0x80, 0xe0, 0x9f, 0xbf, 0xf0, 0x8f, 0xbf, 0xbf],
      '\\xc0\\x80\\xe0\\x9f\\xbf\\xf0\\x8f\\xbf\\xbf',
    ],
    ['half of a pair', [0xed, 0xa0, 0x80], '\\xed\\xa0\\x80'],
    ['a point beyond Unicode', [0xf4, 0x90, 0x80, 0x80, 0xf5], '\\xf4\\x90\\x80\\x80\\xf5'],
    ['a byte between well-formed ones', [0xef, 0xbb, 0xbf, 0xff, 0xf0, 0x9f, 0x98, 0x80, 0xd0, 0x96], '\ufeff\\xff😀Ж'],
  ])('shows the bytes of %s', (_what, bytes, text) => {
    expect(escapedText(Buffer.from(bytes))).toBe(text);
  });

  it('bytes of a text are readable exactly where a decoder accepts them', () => {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const decoded = (bytes: Buffer): string | undefined => {
      try {
        return decoder.decode(bytes);
      } catch {
        return undefined;
      }
    };
    const byTrying = (bytes: Buffer): string => {
      let text = '';
      for (let at = 0; at < bytes.length;) {
        const length = [1, 2, 3, 4].find((one) => decoded(bytes.subarray(at, at + one)) !== undefined);
        text +=
          length === undefined ? `\\x${bytes.toString('hex', at, at + 1)}` : bytes.toString('utf8', at, at + length);
        at += length ?? 1;
      }
      return text;
    };
    for (let lead = 0x80; lead <= 0xff; lead++) {
      for (const second of [0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc2]) {
        for (const others of [[], [0x80], [0xbf, 0x80], [0x80, 0x42]]) {
          const bytes = Buffer.from([lead, second, ...others, 0xff]);
          expect(escapedText(bytes)).toBe(byTrying(bytes));
        }
      }
    }
  });

  it('is told whole, however long it is', () => {
    // The largest message.
    expect(escapedText(Buffer.alloc(262_144, 0xff))).toBe('\\xff'.repeat(262_144));
  });
});
