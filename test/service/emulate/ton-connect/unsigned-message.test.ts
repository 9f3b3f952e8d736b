import {
  Address,
  beginCell,
  Cell,
  Dictionary,
  external,
  loadMessage,
  storeMessage,
  storeMessageRelaxed,
  type MessageRelaxed,
  type Slice,
} from '@ton/core';
import {
  array,
  assert,
  bigInt,
  boolean,
  constantFrom,
  integer,
  nat,
  option,
  asyncProperty,
  record,
  uint8Array,
} from 'fast-check';
import { describe, expect, test } from 'vitest';

import { tonConnectMessages } from '#service/emulate/request/ton-connect-messages.ts';
import type { SentMessage } from '#service/emulate/ton-connect/sent-message.ts';
import { readSigningWallet, type SigningWallet } from '#service/emulate/ton-connect/signing-wallet.ts';
import { unsignedMessage, type SigningRequest } from '#service/emulate/ton-connect/unsigned-message.ts';
import { createTimeSlice } from '#service/runtime/time-slice.ts';
import { signingWallet, wallets, withoutSignature, type WalletUnderTest } from './wallets-under-test.ts';

const validUntil = 1_800_000_000;
const receiver = new Address(0, Buffer.alloc(32, 0xab));

/** A payload that no message has room for, so client libraries store it in a cell of its own, too. */
const longPayload = beginCell().storeBuffer(Buffer.alloc(120, 0x5a)).endCell();

const make = (wallet: SigningWallet, request: SigningRequest): Promise<Buffer> =>
  unsignedMessage(wallet, request, createTimeSlice(undefined));

const base64 = (cell: Cell): string => cell.toBoc().toString('base64');
const parse = (messages: readonly unknown[]): readonly SentMessage[] => tonConnectMessages.parse(messages, 'body');

/** The message as a client library writes it. */
function relaxed(message: { address: Address; bounce: boolean; value: bigint; body?: Cell }): MessageRelaxed {
  return {
    info: {
      type: 'internal',
      ihrDisabled: true,
      bounce: message.bounce,
      bounced: false,
      src: null,
      dest: message.address,
      value: { coins: message.value },
      ihrFee: 0n,
      forwardFee: 0n,
      createdLt: 0n,
      createdAt: 0,
    },
    body: message.body ?? Cell.EMPTY,
  };
}

/** The whole external message of a wallet, without the signature. */
function expected(wallet: WalletUnderTest, body: Cell): Cell {
  const message = external({ to: wallet.address, body: withoutSignature(wallet, body) });
  return beginCell().store(storeMessage(message)).endCell();
}

describe('the message that a wallet would sign', () => {
  test.each(wallets)('a message of wallet $name has the bytes of the client library', async (wallet) => {
    const counts = wallet.messagesMax === 255 ? [1, 2, 255] : wallet.messagesMax === 4 ? [1, 2, 4] : [1];
    for (const count of counts) {
      const values = Array.from({ length: count }, (_, index) => BigInt(index) * 1_000_000_007n);
      const messages = values.map((value) => relaxed({ address: receiver, bounce: true, value, body: longPayload }));
      const body = wallet.sign({ seqno: 77, timeout: validUntil, messages });
      const request = values.map((value) => ({
        address: receiver.toString(),
        amount: String(value),
        payload: base64(longPayload),
      }));
      const made = await make(await signingWallet(wallet, 77), { messages: parse(request), validUntil });
      expect(Cell.fromBoc(made)[0]!.toString()).toBe(expected(wallet, body).toString());
    }
  });

  test.each(wallets)(
    'a message of wallet $name without payload has the bytes of the client library',
    async (wallet) => {
      const messages = [relaxed({ address: receiver, bounce: false, value: 5n })];
      const body = wallet.sign({ seqno: 4_294_967_295, timeout: validUntil, messages });
      const request = [{ address: receiver.toString({ bounceable: false }), amount: '5' }];
      const made = await make(await signingWallet(wallet, 4_294_967_295), { messages: parse(request), validUntil });
      expect(Cell.fromBoc(made)[0]!.toString()).toBe(expected(wallet, body).toString());
    },
  );

  test.each(wallets)('wallet $name refuses more messages than it sends at once', async (wallet) => {
    const one = { address: receiver.toString(), amount: '1' };
    const request = Array.from({ length: Math.min(wallet.messagesMax + 1, 255) }, () => one);
    const messages = [...parse(request), ...parse([one])];
    await expect(make(await signingWallet(wallet, 1), { messages, validUntil })).rejects.toThrow(
      `messages array cannot contain more than ${wallet.messagesMax} messages`,
    );
  });

  test('payload and initial state are references, and other currencies are in the value', async () => {
    const init = beginCell().storeUint(0b00110, 5).storeRef(Cell.EMPTY).storeRef(longPayload).endCell();
    const payload = beginCell().storeUint(1, 8).endCell();
    const request = [
      {
        address: `0:${'ab'.repeat(32)}`,
        amount: String(2n ** 120n - 1n),
        payload: base64(payload),
        stateInit: base64(init),
        extra_currency: { 100: '7', 4_294_967_295: String(2n ** 248n - 1n), 5: '0' },
      },
    ];
    const made = await make(await signingWallet(wallets.at(-1)!, 1), { messages: parse(request), validUntil });
    const [cell] = sentBy(wallets.at(-1)!, made);
    const currencies = Dictionary.empty(Dictionary.Keys.Uint(32), Dictionary.Values.BigVarUint(5));
    currencies.set(100, 7n);
    currencies.set(4_294_967_295, 2n ** 248n - 1n);
    const wanted = relaxed({ address: receiver, bounce: true, value: 2n ** 120n - 1n, body: payload });
    const { info } = wanted;
    if (info.type === 'internal') info.value.other = currencies;
    const init2 = { code: Cell.EMPTY, data: longPayload };
    const written = beginCell()
      .store(storeMessageRelaxed({ ...wanted, init: init2 }, { forceRef: true }))
      .endCell();
    expect(cell!.toString()).toBe(written.toString());
  });

  const oneMessage = record({
    workchain: constantFrom(0, -1),
    id: uint8Array({ minLength: 32, maxLength: 32 }),
    form: constantFrom('raw', 'bounceable', 'non-bounceable'),
    testOnly: boolean(),
    amount: bigInt(0n, 2n ** 120n - 1n),
    payload: option(uint8Array({ maxLength: 127 })),
    stateInit: option(uint8Array({ maxLength: 127 })),
    alphabet: constantFrom('base64', 'base64url'),
  });

  test.each(wallets)('a message of wallet $name has each part of any request', async (wallet) => {
    await assert(
      asyncProperty(
        array(oneMessage, { minLength: 1, maxLength: Math.min(wallet.messagesMax, 6) }),
        nat({ max: 4_294_967_295 }),
        integer({ min: 0, max: 4_294_967_295 }),
        async (wanted, seqno, until) => {
          const request = wanted.map(({ workchain, id, form, testOnly, amount, payload, stateInit, alphabet }) => {
            const address = new Address(workchain, Buffer.from(id));
            const bag = (bytes: Uint8Array | null) =>
              bytes && beginCell().storeBuffer(Buffer.from(bytes)).endCell().toBoc().toString(alphabet);
            return {
              address:
                form === 'raw'
                  ? address.toRawString()
                  : address.toString({ bounceable: form === 'bounceable', testOnly }),
              amount: String(amount),
              payload: bag(payload),
              stateInit: bag(stateInit),
            };
          });
          const made = await make(await signingWallet(wallet, seqno), { messages: parse(request), validUntil: until });
          const sent = sentBy(wallet, made).map((cell) => readSent(cell));
          expect(sent).toEqual(
            wanted.map(({ workchain, id, form, amount, payload, stateInit }) => ({
              to: new Address(workchain, Buffer.from(id)).toRawString(),
              bounce: form !== 'non-bounceable',
              amount,
              payload: payload && Buffer.from(payload).toString('hex'),
              stateInit: stateInit && Buffer.from(stateInit).toString('hex'),
            })),
          );
        },
      ),
      { seed: 42, numRuns: 60 },
    );
  });
});

describe('the wallet of a request', () => {
  const account = { workchain: 0, id: Buffer.alloc(32, 1) };
  const wallet = wallets[6]!;
  const [code, data] = [wallet.code.toBoc(), wallet.data.toBoc()];

  test.each([
    ['an account without code', { code: null, data: null }, 'from is not a deployed wallet'],
    ['an account without data', { code, data: null }, 'from is not a deployed wallet'],
    ['another contract', { code: Cell.EMPTY.toBoc(), data }, 'Account is not a known wallet'],
    ['a wallet with other data', { code, data: Cell.EMPTY.toBoc() }, 'Account is not a known wallet'],
  ])('%s is refused', async (_what, state, text) => {
    await expect(readSigningWallet(account, state, createTimeSlice(undefined))).rejects.toThrow(text);
  });

  test('a wallet v5 signs even when its signatures are switched off', async () => {
    const v5 = wallets.at(-1)!;
    const slice = v5.data.beginParse();
    slice.skip(1);
    const off = beginCell().storeBit(false).storeSlice(slice).endCell();
    const state = { code: v5.code.toBoc(), data: off.toBoc() };
    const read = await readSigningWallet(account, state, createTimeSlice(undefined));
    expect(read).toMatchObject({ order: 'v5', seqno: 0, messagesMax: 255 });
  });
});

/** Cells of the messages that an external message makes the wallet send, in their order. */
function sentBy({ signature }: WalletUnderTest, boc: Buffer): Cell[] {
  const { body } = loadMessage(Cell.fromBoc(boc)[0]!.beginParse());
  if (signature === 'first') return [...body.refs];
  const cells: Cell[] = [];
  for (let at = body.refs[0]!; at.refs.length > 0; at = at.refs[0]!) cells.unshift(at.refs[1]!);
  return cells;
}

function readSent(cell: Cell) {
  // A random state is no `StateInit`, so the message is read by hand.
  const slice = cell.beginParse();
  expect(slice.loadUint(1)).toBe(0);
  expect(slice.loadBit()).toBe(true);
  const bounce = slice.loadBit();
  expect(slice.loadUint(3)).toBe(0);
  const to = slice.loadAddress().toRawString();
  const amount = slice.loadCoins();
  expect(slice.loadUint(1 + 4 + 4) + slice.loadUint(32) + slice.loadUint(32) + slice.loadUint(32)).toBe(0);
  // `Maybe (Either StateInit ^StateInit)` is 0 or 11.
  const hasState = slice.loadBit();
  const stateInit = hasState && slice.loadBit() ? hexOf(slice) : null;
  expect(stateInit !== null).toBe(hasState);
  const payload = slice.loadBit() ? hexOf(slice) : null;
  slice.endParse();
  return { to, bounce, amount, payload, stateInit };
}

function hexOf(slice: Slice): string {
  const inner = slice.loadRef().beginParse();
  return inner.loadBuffer(inner.remainingBits / 8).toString('hex');
}
