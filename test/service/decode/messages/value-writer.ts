import { beginCell } from '@ton/core';
import type { Builder, Cell } from '@ton/core';

import { commentBody } from '#service/devchain/demo/tokens.ts';
import { hexOf } from './dictionary-writer.ts';

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
    if (kind === 'bits') return hexOf(count === 0 ? '' : value.toString(2).padStart(count, '0'));
    if (kind === 'uint') return value.toString();
    return BigInt.asIntN(count, value).toString();
  }

  function writeNumber(width: number, builder: Builder, wanted: number | undefined): string {
    // Small numbers, because lengths must leave room for the measured part.
    const value = wanted === undefined ? bits(Math.min(width, 4)) : BigInt(wanted);
    builder.storeUint(value, width);
    return value.toString();
  }

  function writeVarUint(limit: number, builder: Builder): unknown {
    const length = random(limit > 16 ? 20 : 4);
    const value = length === 0 ? 0n : bits(length * 8);
    builder.storeUint(length, limit > 16 ? 5 : 4);
    builder.storeUint(value, length * 8);
    return { '@type': 'var_uint', len: String(length), value: value.toString() };
  }

  function writeAddress(name: string, builder: Builder): unknown {
    const kind = name === 'MsgAddressExt' ? random(2) : name === 'MsgAddressInt' ? 2 + random(2) : random(4);
    builder.storeUint(kind, 2);
    if (kind === 0) return { '@type': 'addr_none' };
    const length = random(3) === 0 ? 256 : random(40);
    if (kind === 1) {
      builder.storeUint(length, 9);
      return { '@type': 'addr_external', len: String(length), external_address: writeWidth('bits', length, builder) };
    }
    const anycast = writeAnycast(builder);
    if (kind === 2) {
      const workchain_id = writeWidth('int', 8, builder);
      return { '@type': 'addr_std', anycast, workchain_id, address: writeWidth('bits', 256, builder) };
    }
    builder.storeUint(length, 9);
    const workchain_id = writeWidth('int', 32, builder);
    const address = writeWidth('bits', length, builder);
    return { '@type': 'addr_var', anycast, addr_len: String(length), workchain_id, address };
  }

  function writeAnycast(builder: Builder): unknown {
    if (!storeBit(builder, random(4) === 0)) return { '@type': 'nothing_from_maybe' };
    const depth = 1 + random(30);
    builder.storeUint(depth, 5);
    const rewrite_pfx = writeWidth('bits', depth, builder);
    return { '@type': 'something_from_maybe', value: { '@type': 'anycast_info', depth: String(depth), rewrite_pfx } };
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

  return {
    bits,
    content,
    width: writeWidth,
    number: writeNumber,
    varUint: writeVarUint,
    address: writeAddress,
    rest: writeRest,
    snake(builder: Builder): string {
      const text = 'ab cdé ж'.repeat(random(40));
      builder.storeStringTail(text);
      return text;
    },
    /** Writes a text in chunks, each in a cell of its own. */
    text(builder: Builder): unknown {
      const chunks = Array.from({ length: random(4) }, () => Buffer.from('dns'.repeat(random(5))));
      builder.storeUint(chunks.length, 8);
      return { '@type': 'text', chunks: String(chunks.length), rest: chunksOf(chunks, builder) };
    },
  };
}

export function storeBit(builder: Builder, bit: boolean): boolean {
  builder.storeBit(bit);
  return bit;
}

function unknownCell(cell: Cell): Content {
  return { cell, shown: cell.toBoc({ idx: false, crc32: false }).toString('base64') };
}

function commentCell(): Content {
  const cell = commentBody('gm');
  return { cell, shown: { '@type': 'text_comment', text: 'gm' } };
}

function chunksOf([data, ...more]: readonly Buffer[], builder: Builder): unknown {
  if (data === undefined) return { '@type': 'text_chunk_empty' };
  builder.storeUint(data.length, 8).storeBuffer(data);
  const shown = { '@type': 'text_chunk', len: String(data.length), data: data.toString('hex').toUpperCase() };
  if (more.length === 0) return { ...shown, next: { '@type': 'chunk_ref_empty' } };
  const next = beginCell();
  const ref = chunksOf(more, next);
  builder.storeRef(next.endCell());
  return { ...shown, next: { '@type': 'chunk_ref', ref } };
}
