import { beginCell, Cell } from '@ton/core';

import type { Draw } from './draw.ts';

// Cells and values of no sense for requests of the emulation.

export const base64 = (cell: Cell): string => cell.toBoc().toString('base64');

/** Cells whose tree has 2^levels leaves. */
export function sharedTree(levels: number): Cell {
  let cell = beginCell().storeUint(7, 64).endCell();
  for (let level = 0; level < levels; level++) cell = beginCell().storeRef(cell).storeRef(cell).endCell();
  return cell;
}

export function deep(levels: number): Cell {
  let cell = Cell.EMPTY;
  for (let level = 0; level < levels; level++) cell = beginCell().storeUint(level, 32).storeRef(cell).endCell();
  return cell;
}

export const exotic = [
  // A library, a pruned branch, a Merkle proof and a Merkle update that are none.
  `02${'00'.repeat(32)}`,
  `0101${'11'.repeat(32)}0001`,
  `03${'22'.repeat(32)}0001`,
  `04${'33'.repeat(64)}00010001`,
  'ff',
].map((hex) => bocOfExotic(Buffer.from(hex, 'hex')));

/** A bag of one exotic cell, whatever its form. */
function bocOfExotic(bytes: Buffer): string {
  const cell = Buffer.concat([Buffer.from([8, bytes.length * 2]), bytes]);
  const head = Buffer.from([0xb5, 0xee, 0x9c, 0x72, 0x01, 0x01, 0x01, 0x01, 0x00, cell.length, 0x00]);
  return Buffer.concat([head, cell]).toString('base64');
}

/** Values of no sense for any field. */
export const noise: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  '',
  ' ',
  '\u0000',
  '\uD800',
  '__proto__',
  '9'.repeat(400),
  'A'.repeat(4000),
  'te6cc',
  'te6cckEBAQEAAgAAAEysuc0=',
  ...exotic,
  base64(deep(1000)),
  base64(sharedTree(200)),
  [],
  {},
  [[[[]]]],
  JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`),
];

/** Flips, cuts, or adds bytes. */
export function spoilBoc(draw: Draw, text: string): string {
  const bytes = Buffer.from(text, 'base64');
  for (let flips = draw(4); flips > 0; flips--) bytes[draw(bytes.length)]! ^= 1 << draw(8);
  const kind = draw(6);
  if (kind === 0) return bytes.subarray(0, draw(bytes.length)).toString('base64');
  if (kind === 1) return Buffer.concat([bytes, bytes]).toString('base64');
  if (kind === 2) return bytes.toString('hex');
  if (kind === 3) return text.replaceAll('A', '-');
  return bytes.toString('base64');
}
