import { readerOf, type Reader } from '../cells.ts';
import type { ConfigValue, Named } from './values.ts';

/*
 * A layout is a text of fields `name:type`, as in the schema of blocks.
 *
 * - Numbers: `u<bits>`, `i<bits>`, `flag`, `time`, `seconds`.
 * - Nanotons: `coins`, `nano<bits>`.
 * - Other: `hash`, `account` of the masterchain, `limits`.
 *
 * A field without a name, `:u7`, is read and not shown. A field with `?` is absent in cells of older rules.
 */

/** Reads the fields of a layout. @throws Error when the cell ends too early, or for another tag within */
export function readFields(reader: Reader, layout: string): readonly Named[] {
  return layout
    .trim()
    .split(/\s+/)
    .flatMap((field): readonly Named[] => {
      const [, name = '', type = '', mark] = /^(\w*):(\w+)(\?)?$/.exec(field) ?? [];
      if (mark !== undefined && reader.bitsLeft() === 0) return [];
      const value = readValue(reader, type);
      return name === '' ? [] : [[name, value]];
    });
}

export const group = (rows: readonly Named[]): ConfigValue => ({ kind: 'group', rows });

function readValue(reader: Reader, type: string): ConfigValue {
  const [, sort = '', digits = ''] = /^([a-z]+)(\d*)$/.exec(type) ?? [];
  const bits = Number(digits);
  switch (sort) {
    case 'u':
      return { kind: 'number', text: reader.uint(bits).toString() };
    case 'i':
      return { kind: 'number', text: reader.int(bits).toString() };
    case 'coins':
      return { kind: 'ton', units: reader.coins().toString() };
    case 'nano':
      return { kind: 'ton', units: reader.uint(bits).toString() };
    case 'hash':
      return { kind: 'hash', hex: reader.hex(256) };
    case 'account':
      return { kind: 'account', address: `-1:${reader.hex(256).toUpperCase()}` };
    case 'time':
      return { kind: 'time', at: Number(reader.uint(32)) };
    case 'seconds':
      return { kind: 'seconds', text: reader.uint(32).toString() };
    case 'flag':
      return { kind: 'flag', isSet: reader.bit() };
    case 'limits':
      expectTag(reader, 8, 0xc3);
      return group(readFields(reader, 'underload:u32 soft_limit:u32 hard_limit:u32'));
    default:
      throw new Error(`unknown type ${type}`);
  }
}

export function expectTag(reader: Reader, bits: number, tag: number): void {
  if (reader.uint(bits) !== BigInt(tag)) throw new Error('another tag than expected');
}

/** Reads a dictionary behind its bit; undefined for an empty one. */
export function maybeRoot(reader: Reader): ReturnType<Reader['ref']> | undefined {
  return reader.bit() ? reader.ref() : undefined;
}

/** A layout for each tag of a parameter. */
export function tagged(bits: number, layouts: Readonly<Record<number, string>>): (reader: Reader) => ConfigValue {
  return (reader) => {
    const layout = layouts[Number(reader.uint(bits))];
    if (layout === undefined) throw new Error('an unknown tag');
    return group(readFields(reader, layout));
  };
}

export const plain =
  (layout: string): ((reader: Reader) => ConfigValue) =>
  (reader) =>
    group(readFields(reader, layout));

/** The value of a cell behind a reference. */
export const inRef = (reader: Reader, read: (inner: Reader) => ConfigValue): ConfigValue =>
  read(readerOf(reader.ref()));
