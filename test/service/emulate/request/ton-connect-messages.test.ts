import { Address, beginCell, Cell } from '@ton/core';
import { anything, array, assert, constant, dictionary, oneof, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';

import { ContractError } from '#service/contract/errors.ts';
import { tonConnectMessages } from '#service/emulate/request/ton-connect-messages.ts';

const address = new Address(0, Buffer.alloc(32, 7)).toString();
const fine = { address, amount: '1' };
const parse = (raw: unknown) => tonConnectMessages.parse(raw, 'body');
const bag = beginCell().storeUint(1, 8).endCell().toBoc().toString('base64');

/** A bag of cells with two roots. */
const twoRoots = Buffer.from('b5ee9c7201010202000600000100000000', 'hex').toString('base64');

/** A chain of cells, each below the one before. */
function chain(depth: number): string {
  let cell = Cell.EMPTY;
  for (let step = 0; step < depth; step++) cell = beginCell().storeRef(cell).endCell();
  return cell.toBoc().toString('base64');
}

/** So many messages with the same payload. */
function withPayload(count: number, payload: string): readonly object[] {
  return Array.from({ length: count }, () => ({ ...fine, payload }));
}

describe('messages of a request', () => {
  test('empty and null parts are absent', () => {
    const [message] = parse([{ ...fine, payload: null, stateInit: '', extra_currency: null }]);
    expect(message).toMatchObject({ amount: 1n, extraCurrencies: [], payload: undefined, stateInit: undefined });
  });

  test.each<[string, unknown, string]>([
    ['no array', {}, 'messages must be an array'],
    ['no messages', [], 'messages array cannot be empty'],
    ['256 messages', Array.from({ length: 256 }, () => fine), 'messages array cannot contain more than 255 messages'],
    ['a text for a message', [fine, 'x'], 'message at index 1 must be an object'],
    ['no address', [fine, { amount: '1' }], 'address in message at index 1 cannot be empty'],
    ['another address', [{ ...fine, address: 'EQ' }], 'invalid address in message at index 0'],
    ['a far workchain', [{ ...fine, address: `1000:${'0'.repeat(64)}` }], 'the workchain has more than 8 bits'],
    ['no amount', [fine, fine, { address }], 'amount in message at index 2 cannot be empty'],
    ['an empty amount', [{ address, amount: '' }], 'amount in message at index 0 cannot be empty'],
    ['a number for an amount', [{ address, amount: 5 }], 'invalid amount in message at index 0'],
    ['an amount below zero', [{ address, amount: '-1' }], 'invalid amount in message at index 0'],
    ['an amount of 121 bits', [{ address, amount: String(2n ** 120n) }], 'invalid amount in message at index 0'],
    ['a payload without cells', [{ ...fine, payload: 'AAAA' }], 'invalid message payload at index 0'],
    ['a payload that is no base64', [fine, { ...fine, payload: '%' }], 'invalid message payload at index 1'],
    ['a payload that is no text', [{ ...fine, payload: 1 }], 'invalid message payload at index 0'],
    ['a payload with two roots', [{ ...fine, payload: twoRoots }], 'invalid message payload at index 0'],
    ['a payload deeper than a message', [{ ...fine, payload: chain(511) }], 'cells are deeper than 510'],
    ['a state without cells', [{ ...fine, stateInit: 'AAAA' }], 'invalid message stateInit at index 0'],
    ['currencies in an array', [{ ...fine, extra_currency: ['1'] }], 'invalid extra_currency in message at index 0'],
    ['a currency by name', [{ ...fine, extra_currency: { x: '1' } }], 'an id is not a decimal string'],
    ['a currency of 33 bits', [{ ...fine, extra_currency: { 4_294_967_296: '1' } }], 'an id is not a decimal string'],
    ['a currency twice', [{ ...fine, extra_currency: { 1: '1', '01': '1' } }], 'an id is there twice'],
    ['a number for a currency', [{ ...fine, extra_currency: { 1: 1 } }], 'the amount of 1 is not a decimal string'],
    ['a currency of 249 bits', [{ ...fine, extra_currency: { 1: String(2n ** 248n) } }], 'the amount of 1 is not'],
  ])('%s are refused', (_what, raw, text) => {
    expect(() => parse(raw)).toThrow(text);
  });

  test('bags of all messages share a limit of cells', () => {
    const payload = chain(500);
    expect(parse(withPayload(8, payload))).toHaveLength(8);
    expect(() => parse(withPayload(9, payload))).toThrow('invalid message payload at index 8');
  });

  test('any other value is refused as a mistake of the caller', () => {
    const part = oneof(anything(), string(), constant(bag), constant(address), constant('1'));
    const message = dictionary(oneof(string(), constant('address'), constant('amount'), constant('payload')), part);
    assert(
      property(oneof(anything(), array(oneof(message, anything()), { maxLength: 5 })), (raw) => {
        const fault = faultOf(raw);
        expect(fault === undefined || fault instanceof ContractError).toBe(true);
      }),
      { seed: 42, numRuns: 1_000 },
    );
  });
});

function faultOf(raw: unknown): unknown {
  try {
    parse(raw);
    return undefined;
  } catch (error) {
    return error;
  }
}
