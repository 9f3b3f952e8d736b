import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { emulationCallOf } from '#service/explorer/app/emulate/request.ts';

const transaction = { valid_until: 5, messages: [{ address: '0:A', amount: '1' }] };

describe('a text pasted for the emulation', () => {
  it('is a message when it is base64 or hexadecimal, with spaces and lines', () => {
    expect(emulationCallOf(' te6c cgEB\nAQAA ', '', true)).toMatchObject({
      operation: 'emulateTrace',
      body: { boc: 'te6ccgEBAQAA', ignore_chksig: true, with_actions: true },
    });
    expect(emulationCallOf('b5ee9c72', '', false)).toMatchObject({ body: { boc: 'b5ee9c72', ignore_chksig: false } });
  });

  it('is a request of TON Connect as a transaction, and as the call that a wallet gets', () => {
    const own = { ...transaction, from: '0:C' };
    const body = { from: '0:C', messages: transaction.messages, valid_until: 5 };
    expect(emulationCallOf(JSON.stringify(own), '0:D', false)).toMatchObject({ operation: 'emulateTonConnect', body });
    const call = JSON.stringify({ method: 'sendTransaction', params: [JSON.stringify(own)], id: '1' });
    expect(emulationCallOf(call, '', false)).toMatchObject({ operation: 'emulateTonConnect', body });
  });

  it('takes the wallet of the form when the request names none', () => {
    expect(emulationCallOf(JSON.stringify(transaction), ' 0:D ', false)).toMatchObject({ body: { from: '0:D' } });
    expect(emulationCallOf(JSON.stringify(transaction), '', false)).toEqual({ problem: 'from' });
  });

  it.each([
    ['  ', 'empty'],
    ['{', 'json'],
    ['{}', 'messages'],
    ['{"params":["x"]}', 'messages'],
    ['{"messages":{}}', 'messages'],
    ['<b>', 'form'],
  ])('says why it is neither: %s', (text, problem) => {
    expect(emulationCallOf(text, '0:D', false)).toEqual({ problem });
  });

  it('never throws, whatever the text is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(emulationCallOf(text, '', false)).toBeTypeOf('object');
      }),
    );
  });
});
