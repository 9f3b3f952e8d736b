/** CRC-32C (Castagnoli) tables for eight bytes at a time; the reversed polynomial is 0x82f63b78. */
const tables = Array.from({ length: 8 }, () => new Int32Array(256));
for (let byte = 0; byte < 256; byte++) {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0x82f63b78 : 0);
  tables[0]![byte] = value;
}
for (let byte = 0; byte < 256; byte++) {
  for (let table = 1; table < 8; table++) {
    const before = tables[table - 1]![byte]!;
    tables[table]![byte] = (before >>> 8) ^ tables[0]![before & 255]!;
  }
}
// Named tables, because an array of tables costs a further lookup for each byte.
const [t0, t1, t2, t3, t4, t5, t6, t7] = tables as [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

/** True if words have the low byte first, which the fast path needs. */
const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/** CRC-32C of `bytes` from `start` to `end`, as unsigned 32 bits. BoC files and validator set hashes use it. */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let crc = -1;
  let at = start;
  const head = Math.min(end, at + (-(bytes.byteOffset + at) & 3));
  for (; at < head; at++) crc = (crc >>> 8) ^ t0[(crc ^ bytes[at]!) & 255]!;
  const pairs = isLittleEndian ? (end - at) >> 3 : 0;
  const words = new Int32Array(bytes.buffer, pairs > 0 ? bytes.byteOffset + at : 0, pairs * 2);
  for (let word = 0; word < words.length; word += 2) {
    const low = crc ^ words[word]!;
    const high = words[word + 1]!;
    crc =
      t7[low & 255]! ^
      t6[(low >>> 8) & 255]! ^
      t5[(low >>> 16) & 255]! ^
      t4[low >>> 24]! ^
      t3[high & 255]! ^
      t2[(high >>> 8) & 255]! ^
      t1[(high >>> 16) & 255]! ^
      t0[high >>> 24]!;
  }
  for (at += pairs * 8; at < end; at++) crc = (crc >>> 8) ^ t0[(crc ^ bytes[at]!) & 255]!;
  return ~crc >>> 0;
}
