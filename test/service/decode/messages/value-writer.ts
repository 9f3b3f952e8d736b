import { Address, beginCell } from '@ton/core';
import type { Builder, Cell } from '@ton/core';

import { commentBody } from '#service/devchain/demo/tokens.ts';

/** Returns whole numbers from 0 below a bound, the same in every run of a seed. */
export type Random = (below: number) => number;

/** Cell in a field: its content, and its expected decoded form. */
export type Content = { readonly cell: Cell; readonly shown: unknown };

/** Writes random values of simple types and returns their expected decoded form. */
export function createValueWriter(random: Random) {
  const bits = (count: number): bigint => {
    let value = 0n;
    for (let left = count; left > 0; left--) value = (value << 1n) | BigInt(random(2));
    return value;
  };

  function writeWidth(kind: string, count: number, builder: Builder): string {
    const value = bits(count);
    builder.storeUint(value, count);
    if (kind === 'uint') return value.toString();
    if (kind === 'int') return BigInt.asIntN(count, value).toString();
    const bytes = Math.ceil(count / 8);
    if (bytes === 0) return '';
    return (value << BigInt(bytes * 8 - count))
      .toString(16)
      .toUpperCase()
      .padStart(bytes * 2, '0');
  }

  function writeNumber(width: number, builder: Builder, wanted: number | undefined): string {
    // Small numbers, because lengths must leave room for the measured part.
    const value = wanted === undefined ? bits(Math.min(width, 4)) : BigInt(wanted);
    builder.storeUint(value, width);
    return value.toString();
  }

  function writeCoins(limit: number, builder: Builder): string {
    const length = random(limit > 16 ? 20 : 4);
    const value = length === 0 ? 0n : bits(length * 8);
    builder.storeUint(length, limit > 16 ? 5 : 4);
    builder.storeUint(value, length * 8);
    return value.toString();
  }

  function writeAddress(name: string, builder: Builder): string {
    if (name === 'MsgAddressExt' || (name === 'MsgAddress' && random(4) === 0)) {
      builder.storeAddress(null);
      return 'addr_none';
    }
    const workchain = random(2) - 1;
    const hash = Buffer.from(bits(256).toString(16).padStart(64, '0'), 'hex');
    builder.storeAddress(new Address(workchain, hash));
    return `${workchain}:${hash.toString('hex').toUpperCase()}`;
  }

  /** Returns a cell that a field refers to: empty, of unknown content, or a body of its own. */
  function content(): Content {
    const kind = random(4);
    if (kind === 0) return { cell: beginCell().endCell(), shown: { '@type': 'empty_cell' } };
    if (kind === 1) return unknownCell(beginCell().storeUint(bits(24), 24).endCell());
    if (kind === 2) return commentCell();
    const cell = beginCell().storeUint(0xd53276db, 32).storeUint(7, 64).endCell();
    return { cell, shown: { '@type': 'excess', query_id: '7' } };
  }

  function writeRest(builder: Builder): unknown {
    if (random(2) === 0) return { '@type': 'empty_cell' };
    const { cell, shown } = unknownCell(beginCell().storeUint(bits(16), 16).endCell());
    builder.storeSlice(cell.beginParse());
    return shown;
  }

  function writeSnake(builder: Builder): string {
    const text = 'ab cdé ж'.repeat(random(40));
    builder.storeStringTail(text);
    return text;
  }

  return {
    bits,
    content,
    width: writeWidth,
    number: writeNumber,
    coins: writeCoins,
    address: writeAddress,
    rest: writeRest,
    snake: writeSnake,
    text(builder: Builder): string {
      const text = 'dns'.repeat(random(5));
      builder.storeUint(text === '' ? 0 : 1, 8);
      if (text !== '') builder.storeUint(text.length, 8).storeBuffer(Buffer.from(text));
      return text;
    },
  };
}

export function storeBit(builder: Builder, bit: boolean): boolean {
  builder.storeBit(bit);
  return bit;
}

function unknownCell(cell: Cell): Content {
  return { cell, shown: cell.toBoc({ idx: false, crc32: true }).toString('base64') };
}

function commentCell(): Content {
  const cell = commentBody('gm');
  return { cell, shown: { '@type': 'text_comment', type: 'text_comment', comment: 'gm' } };
}
