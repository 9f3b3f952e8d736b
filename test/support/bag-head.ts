/** A bag that has so many cells without data: the first one is its root, and nothing refers to the others. */
export function headOf(cells: number): Buffer {
  const bag = Buffer.alloc(6 + 4 * 2 + 3 + 2 * cells);
  bag.set([0xb5, 0xee, 0x9c, 0x72, 2, 3]);
  bag.writeUInt16BE(cells, 6);
  bag.writeUInt16BE(1, 8);
  bag.writeUIntBE(2 * cells, 12, 3);
  return bag;
}
