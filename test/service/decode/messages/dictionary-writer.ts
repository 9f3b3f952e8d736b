import { beginCell, Dictionary } from '@ton/core';
import type { Builder, Cell } from '@ton/core';

type Shown = Record<string, unknown>;

/** Value of a dictionary, and its expected decoded form. */
export type Entry = { readonly cell: Cell; readonly shown: unknown };

/** Writes a dictionary with `@ton/core` and returns its expected decoded form: its tree, edge by edge. */
export function storeDictionary(
  kind: string,
  keyBits: number,
  entries: ReadonlyMap<bigint, Entry>,
  builder: Builder,
): Shown {
  const dictionary = Dictionary.empty(Dictionary.Keys.BigUint(keyBits), {
    serialize: (cell: Cell, target: Builder) => target.storeSlice(cell.beginParse(true)),
    parse: () => beginCell().endCell(),
  });
  for (const [key, { cell }] of entries) dictionary.set(key, cell);
  if (kind === 'HashmapE') builder.storeDict(dictionary);
  else dictionary.storeDirect(builder);
  const keys = [...entries.keys()].map((key) => key.toString(2).padStart(keyBits, '0')).toSorted();
  const root = (): Shown => edge(keys, 0, ({ key }) => entries.get(BigInt(`0b${key}`))!.shown);
  if (kind === 'Hashmap') return root();
  return entries.size === 0 ? { '@type': 'hashmap_empty' } : { '@type': 'hashmap_root', root: root() };
}

/** @param keys sorted, equal up to `start` */
function edge(keys: readonly string[], start: number, valueOf: (of: { readonly key: string }) => unknown): Shown {
  const [first] = keys as [string];
  const last = keys.at(-1)!;
  let end = start;
  while (end < first.length && first[end] === last[end]) end++;
  const label = labelOf(first.slice(start, end), first.length - start);
  if (end === first.length) {
    return { '@type': 'hashmap_edge', label, node: { '@type': 'hashmap_node_leaf', value: valueOf({ key: first }) } };
  }
  const side = (bit: string): Shown =>
    edge(
      keys.filter((key) => key[end] === bit),
      end + 1,
      valueOf,
    );
  return { '@type': 'hashmap_edge', label, node: { '@type': 'hashmap_node_fork', left: side('0'), right: side('1') } };
}

/** Label in the shortest form. Of equal ones, that with a unary length comes first, then that with a length. */
function labelOf(bits: string, rest: number): Shown {
  const width = rest.toString(2).length - (rest === 0 ? 1 : 0);
  const short = 2 * bits.length + 2;
  const long = 2 + width + bits.length;
  const isSame = bits !== '' && new Set(bits).size === 1;
  if (isSame && 3 + width < Math.min(short, long)) {
    return { '@type': 'hashmap_label_same', v: bits[0] === '1', n: String(bits.length) };
  }
  if (long < short) return { '@type': 'hashmap_label_long', n: String(bits.length), s: hexOf(bits) };
  let len: Shown = { '@type': 'unary_zero' };
  for (let left = bits.length; left > 0; left--) len = { '@type': 'unary_succ', x: len };
  return { '@type': 'hashmap_label_short', len, s: hexOf(bits) };
}

/** Hex of bits; the last digit of fewer than four is filled with 1 and zeros, and `_` follows. */
export function hexOf(bits: string): string {
  const rest = bits.length % 4;
  const whole = rest === 0 ? bits : `${bits}1`.padEnd(bits.length - rest + 4, '0');
  const digits = (whole.match(/.{4}/g) ?? []).map((four) => Number.parseInt(four, 2).toString(16)).join('');
  return digits.toUpperCase() + (rest === 0 ? '' : '_');
}
