import { Address, beginCell, Cell, ExternalAddress, internal, storeMessage, storeStateInit } from '@ton/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { readMessage } from '#service/decode/tlb/message.ts';
import { viewMessage, viewMessageStd } from '#service/v2/messages.ts';
import { reference, schemaOf, type Json } from '#test/service/http/reference.ts';

const alice = new Address(0, Buffer.alloc(32, 0xa1));
const bob = new Address(-1, Buffer.alloc(32, 0xb0));

type Options = { readonly init?: Cell; readonly isInitApart?: boolean; readonly isBodyApart?: boolean };

/** A message between accounts, spelled by hand so that every Either is the test's choice. */
function messageCell(body: Cell, { init, isInitApart = true, isBodyApart = true }: Options = {}): Cell {
  const { info } = internal({ to: bob, value: 5n });
  const head = beginCell().store(
    storeMessage({ info: { ...info, src: alice, forwardFee: 66n, createdLt: 77n } as never, body: new Cell() }),
  );
  // Without the last two bits: no init, body in place.
  const builder = beginCell().storeBits(head.endCell().bits.substring(0, head.bits - 2));
  if (init === undefined) builder.storeBit(false);
  else if (isInitApart) builder.storeBit(true).storeBit(true).storeRef(init);
  else builder.storeBit(true).storeBit(false).storeSlice(init.asSlice());
  if (isBodyApart) builder.storeBit(true).storeRef(body);
  else builder.storeBit(false).storeSlice(body.asSlice());
  return builder.endCell();
}

function show(cell: Cell): { ext: ReturnType<typeof viewMessage>; std: ReturnType<typeof viewMessageStd> } {
  const table = parseBoc(cell.toBoc());
  const source = { store: createCellStore(), table, message: readMessage(table, table.roots[0]!) };
  return { ext: viewMessage(source), std: viewMessageStd(source) };
}

function textBody(text: Buffer, operation = 0): Cell {
  return beginCell().storeUint(operation, 32).storeBuffer(text).endCell();
}

/** A body whose text runs on through cells of these lengths, in bits. */
function snake(operation: number, lengths: readonly number[]): Cell {
  let cell: Cell | undefined;
  for (const [at, bits] of [...lengths.entries()].toReversed()) {
    const builder = beginCell();
    if (at === 0) builder.storeUint(operation, 32);
    for (let count = 0; count < bits; count++) builder.storeBit(count % 3 === 0);
    if (cell !== undefined) builder.storeRef(cell);
    cell = builder.endCell();
  }
  return cell!;
}

function bocOf(cell: Cell): string {
  return cell.toBoc({ idx: false, crc32: true }).toString('base64');
}

describe('a message between accounts', () => {
  const body = beginCell().storeUint(0x12345678, 32).endCell();
  const cell = messageCell(body);

  it('shows what it carries, and its hashes', () => {
    const { ext, std } = show(cell);
    const common = {
      hash: cell.hash().toString('base64'),
      value: '5',
      extra_currencies: [],
      fwd_fee: '66',
      ihr_fee: '0',
      created_lt: '77',
      body_hash: body.hash().toString('base64'),
      msg_data: { '@type': 'msg.dataRaw', body: bocOf(body), init_state: '' },
    };
    const [source, destination] = [alice, bob].map((address) => address.toString());
    const message = `${Buffer.from('12345678', 'hex').toString('base64')}\n`;
    expect(ext).toEqual({ '@type': 'ext.message', ...common, source, destination, message });
    expect(std).toEqual({
      '@type': 'raw.message',
      ...common,
      source: { '@type': 'accountAddress', account_address: source },
      destination: { '@type': 'accountAddress', account_address: destination },
    });
  });

  it.each([true, false])('shows the same body and init wherever they stand (apart: %s)', (apart) => {
    const code = beginCell().storeUint(1, 8).endCell();
    const special = { tick: true, tock: false };
    for (const init of [{ code, data: body }, { code }, { splitDepth: 5, special, data: code }, {}]) {
      const initCell = beginCell().store(storeStateInit(init)).endCell();
      const deep = beginCell().storeUint(7, 9).storeRef(code).endCell();
      const whole = messageCell(deep, { init: initCell, isInitApart: apart, isBodyApart: apart });
      const { ext } = show(whole);
      expect(ext.msg_data).toEqual({ '@type': 'msg.dataRaw', body: bocOf(deep), init_state: bocOf(initCell) });
      expect(ext.body_hash).toBe(deep.hash().toString('base64'));
    }
  });

  it('shows the bits of a raw body as bytes without what it refers to, and nothing of an empty one', () => {
    const ref = beginCell().storeUint(1, 8).endCell();
    expect(show(messageCell(beginCell().storeUint(0b101, 3).storeRef(ref).endCell())).ext).toMatchObject({
      message: 'oA==\n',
    });
    expect(show(messageCell(new Cell())).ext).toMatchObject({ message: '' });
    expect(show(messageCell(beginCell().storeRef(ref).endCell())).ext).toMatchObject({ message: '' });
  });
});

describe('a text', () => {
  it.each([
    ['short', 'hi'],
    ['empty', ''],
    ['of many letters', 'тон 💎 \u0000 \uFEFF'],
  ])('that is %s is shown as it is', (_what, text) => {
    const { ext, std } = show(messageCell(textBody(Buffer.from(text))));
    const data = { '@type': 'msg.dataText', text: Buffer.from(text).toString('base64') };
    expect([ext.msg_data, std.msg_data]).toEqual([data, data]);
    expect(ext).toMatchObject({ message: text });
    expect(ext).not.toHaveProperty('message_decode_error');
  });

  it('that is not UTF-8 is shown as bytes alone', () => {
    const { ext } = show(messageCell(textBody(Buffer.from('ff00fe', 'hex'))));
    expect(ext.msg_data).toEqual({ '@type': 'msg.dataText', text: '/wD+' });
    expect(ext).toMatchObject({ message: '', message_decode_error: expect.any(String) as string });
  });

  it('hides the init', () => {
    const init = beginCell()
      .store(storeStateInit({ code: new Cell() }))
      .endCell();
    expect(show(messageCell(textBody(Buffer.from('hi')), { init })).std.msg_data).toEqual({
      '@type': 'msg.dataText',
      text: 'aGk=',
    });
  });

  it('for the receiver alone has no words', () => {
    const { ext, std } = show(messageCell(textBody(Buffer.from([1, 2, 3]), 0x2167da4b)));
    const data = { '@type': 'msg.dataEncryptedText', text: 'AQID' };
    expect([ext.msg_data, std.msg_data]).toEqual([data, data]);
    expect(ext).not.toHaveProperty('message');
  });

  it.each<[string, readonly number[], boolean]>([
    ['of 1024 bytes', [800, 1016, 1016, 1016, 1016, 1016, 1016, 1016, 280], true],
    ['of 1025 bytes', [800, 1016, 1016, 1016, 1016, 1016, 1016, 1016, 288], false],
    ['in 16 cells', Array.from({ length: 16 }, () => 8), true],
    ['in 17 cells', Array.from({ length: 17 }, () => 8), false],
    ['whose cells end within a byte', [3, 10, 11], true],
    ['that ends within a byte', [3, 10, 12], false],
  ])('%s is one: %#', (_what, lengths, isText) => {
    const { msg_data: data } = show(messageCell(snake(0, lengths))).std;
    expect(data['@type']).toBe(isText ? 'msg.dataText' : 'msg.dataRaw');
    const bits = lengths
      .map((length) => Array.from({ length }, (_, at) => (at % 3 === 0 ? '1' : '0')).join(''))
      .join('');
    const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
    expect('text' in data ? data.text : undefined).toBe(isText ? Buffer.from(bytes).toString('base64') : undefined);
  });

  it('that runs into a cell of another kind is raw', () => {
    const library = beginCell().storeUint(2, 8).storeBuffer(Buffer.alloc(32, 1)).endCell({ exotic: true });
    const broken = beginCell().storeUint(0, 32).storeRef(library).endCell();
    expect(show(messageCell(broken)).std.msg_data['@type']).toBe('msg.dataRaw');
    expect(show(messageCell(library)).std.msg_data).toMatchObject({ body: bocOf(library) });
  });

  it('of any bytes comes back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), fc.boolean(), (bytes, isBodyApart) => {
        const text = Buffer.from(bytes).subarray(0, isBodyApart ? 120 : 30);
        const { ext } = show(messageCell(textBody(text), { isBodyApart }));
        expect(ext.msg_data).toEqual({ '@type': 'msg.dataText', text: text.toString('base64') });
        const isUtf8 = Buffer.from(text.toString('utf8')).equals(text);
        expect(ext).toMatchObject({ message: isUtf8 ? text.toString('utf8') : '' });
      }),
      { seed: 5, numRuns: 200 },
    );
  });
});

/** A message from outside to an address given by its bits. */
function showTo(destination: (builder: ReturnType<typeof beginCell>) => void): string {
  const builder = beginCell().storeUint(0b1000, 4);
  destination(builder);
  return show(builder.storeCoins(0n).storeUint(0, 2).endCell()).ext.destination;
}

describe('an end of a message', () => {
  const outside = new ExternalAddress(5n, 16);
  const rest = { body: beginCell().storeUint(1, 8).endCell() };

  it('that is outside is an empty text, and what comes from there has no value and no lt', () => {
    const info = { type: 'external-in', src: outside, dest: bob, importFee: 9n } as const;
    const { ext } = show(
      beginCell()
        .store(storeMessage({ info, ...rest }))
        .endCell(),
    );
    expect(ext).toMatchObject({ source: '', destination: bob.toString(), value: '0', fwd_fee: '0', created_lt: '0' });
  });

  it('that is outside is an empty text, and what goes there keeps its lt', () => {
    const info = { type: 'external-out', src: alice, dest: outside, createdLt: 12n, createdAt: 13 } as const;
    const { ext } = show(
      beginCell()
        .store(storeMessage({ info, ...rest }))
        .endCell(),
    );
    expect(ext).toMatchObject({
      source: alice.toString(),
      destination: '',
      value: '0',
      fwd_fee: '0',
      created_lt: '12',
    });
  });

  it('with an anycast prefix has it for the first bits of its id', () => {
    const id = Buffer.alloc(32, 0xff);
    const rewritten = Buffer.from(id);
    rewritten[0] = 0b00110011;
    rewritten[1] = 0b01011111;
    const shown = showTo((builder) => {
      builder.storeUint(0b101, 3).storeUint(11, 5).storeUint(0b00110011_010, 11).storeInt(0, 8).storeBuffer(id);
    });
    expect(shown).toBe(new Address(0, rewritten).toString());
  });

  it.each([
    ['of 256 bits is an account', 256, 0, new Address(0, Buffer.alloc(32, 0xcc)).toString()],
    ['of fewer bits has no friendly form', 248, 0, ''],
    ['in a far workchain has no friendly form', 256, 1000, ''],
  ])('of variable length %s', (_what, bits, workchain, expected) => {
    const shown = showTo((builder) => {
      builder
        .storeUint(0b110, 3)
        .storeUint(bits, 9)
        .storeInt(workchain, 32)
        .storeBuffer(Buffer.alloc(bits / 8, 0xcc));
    });
    expect(shown).toBe(expected);
  });
});

describe('the fields of a message', () => {
  const plain = messageCell(textBody(Buffer.from('hi')));
  const secret = messageCell(textBody(Buffer.from('hi'), 0x2167da4b));
  const broken = messageCell(textBody(Buffer.from('ff', 'hex')));

  it.each<[string, unknown]>([
    ['MessageWithText', show(plain).ext],
    ['MessageWithText', show(broken).ext],
    ['MessageEncrypted', show(secret).ext],
    ['MessageStd', show(plain).std],
    ['MessageStd', show(secret).std],
  ])('stand in the order of %s', (name, view) => {
    const validate = schemaOf(reference, name);
    expect(validate(view) ? [] : validate.errors).toEqual([]);
    const order = Object.keys(reference.components.schemas[name]!['properties'] as Json);
    const shown = Object.keys(view as object);
    expect(shown).toEqual(order.filter((field) => shown.includes(field)));
  });
});
