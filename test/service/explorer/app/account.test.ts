import { Address, beginCell, Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { friendlyForm, parseAddress, rawForm } from '#service/explorer/app/account/address-forms.ts';
import { getMethods, methodId, methodName } from '#service/explorer/app/account/method-names.ts';
import { pictureSource } from '#service/explorer/app/account/picture.ts';
import { entryOf, valueOf } from '#service/explorer/app/account/stack.ts';
import { methodIdOf } from '#service/tvm/method-id.ts';
import interfaces from '#service/v3/views/account-interfaces.json' with { type: 'json' };

const boc = (cell: Cell): string => cell.toBoc().toString('base64');

const address = new Address(-1, Buffer.alloc(32, 0xab));

describe('forms of an address', () => {
  it('equal those of the TON library', () => {
    for (const bounceable of [true, false]) {
      for (const testOnly of [true, false]) {
        const friendly = address.toString({ bounceable, testOnly });
        const parsed = parseAddress(friendly)!;
        expect(rawForm(parsed)).toBe(`-1:${'AB'.repeat(32)}`);
        expect(parsed.isTestOnly).toBe(testOnly);
        expect(friendlyForm(parsed, { bounceable, testOnly })).toBe(friendly);
      }
    }
  });

  it('are refused with a wrong sum or another form', () => {
    const friendly = address.toString();
    expect(parseAddress(`${friendly.slice(0, -1)}${friendly.endsWith('A') ? 'B' : 'A'}`)).toBeUndefined();
    expect(parseAddress('tonplane.ton')).toBeUndefined();
    expect(parseAddress(`0:${'z'.repeat(64)}`)).toBeUndefined();
  });
});

describe('get-methods of code', () => {
  it('have the names of all methods that interfaces name', () => {
    const names = interfaces.flatMap(({ methods }) => methods);
    expect(names.filter((name) => methodName(methodIdOf(name)) !== name)).toEqual([]);
  });

  it('have ids as the machine has them, and leave out entry points', () => {
    expect(methodId('seqno')).toBe(methodIdOf('seqno'));
    const listed = getMethods([0, -1, 9, methodIdOf('seqno'), 123_456]);
    expect(listed).toEqual([
      { id: methodIdOf('seqno'), name: 'seqno' },
      { id: 123_456, name: undefined },
    ]);
  });
});

describe('arguments of a get-method', () => {
  it('make an address a slice that the TON library reads', () => {
    const entry = entryOf({ type: 'address', text: address.toString() })!;
    expect(entry.type).toBe('slice');
    expect(Cell.fromBase64(String(entry.value)).beginParse().loadAddress().equals(address)).toBe(true);
  });

  it('are refused when the text has another form than its type', () => {
    expect(entryOf({ type: 'num', text: '0x' })).toBeUndefined();
    expect(entryOf({ type: 'num', text: '1e9' })).toBeUndefined();
    expect(entryOf({ type: 'address', text: 'x' })).toBeUndefined();
    expect(entryOf({ type: 'cell', text: 'te6c' })).toBeUndefined();
    expect(entryOf({ type: 'num', text: ' -0x1f ' })).toEqual({ type: 'num', value: '-0x1f' });
    expect(entryOf({ type: 'null', text: '' })).toEqual({ type: 'null' });
  });
});

describe('results of a get-method', () => {
  it('are numbers with every digit', () => {
    expect(valueOf({ type: 'num', value: `-0x${'f'.repeat(64)}` })).toEqual({
      kind: 'number',
      decimal: `-${2n ** 256n - 1n}`,
      hex: `-0x${'f'.repeat(64)}`,
    });
  });

  it('are addresses, texts and other cells', () => {
    const withAddress = boc(beginCell().storeAddress(address).endCell());
    expect(valueOf({ type: 'slice', value: withAddress })).toMatchObject({
      kind: 'address',
      raw: `-1:${'AB'.repeat(32)}`,
    });
    const text = boc(beginCell().storeUint(1, 8).storeStringTail('https://a.b/c.json').endCell());
    expect(valueOf({ type: 'cell', value: text })).toMatchObject({ kind: 'text', text: 'https://a.b/c.json' });
    const marked = boc(beginCell().storeUint(1, 8).storeStringTail('\ufeffUSDT').endCell());
    expect(valueOf({ type: 'cell', value: marked })).toMatchObject({ kind: 'text', text: '\ufeffUSDT' });
    const other = boc(beginCell().storeUint(5, 7).storeRef(Cell.EMPTY).endCell());
    expect(valueOf({ type: 'cell', value: other })).toMatchObject({ kind: 'cell', bits: 7, refs: 1 });
    expect(valueOf({ type: 'cell', value: 'not a bag' })).toMatchObject({ kind: 'cell', bits: 0 });
  });

  it('are lists with their items, to a depth', () => {
    let deep: { type: string; value: unknown } = { type: 'num', value: '0x1' };
    for (let level = 0; level < 100; level++) deep = { type: 'tuple', value: [deep] };
    expect(JSON.stringify(valueOf(deep)).match(/"list"/g)).toHaveLength(21);
  });
});

describe('the picture of a token', () => {
  it('is shown from its own bytes alone, and never as SVG', () => {
    expect(pictureSource('data:image/png;base64,iVBORw0KGgo=')).toBe('data:image/png;base64,iVBORw0KGgo=');
    for (const image of [
      'https://example.org/a.png',
      '//example.org/a.png',
      'data:image/svg+xml;base64,PHN2Zz4=',
      'javascript:alert(1)',
      `data:image/png;base64,${'A'.repeat(300_000)}`,
      { toString: () => 'data:image/png;base64,AAAA' },
    ]) {
      expect(pictureSource(image)).toBeUndefined();
    }
  });
});
