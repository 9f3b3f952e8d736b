/** CRC-32C (Castagnoli) tables for four bytes at a time; the reversed polynomial is 0x82f63b78. */
const tables = [0, 1, 2, 3].map(() => new Int32Array(256)) as [Int32Array, Int32Array, Int32Array, Int32Array];
for (let byte = 0; byte < 256; byte++) {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0x82f63b78 : 0);
  tables[0][byte] = value;
}
for (let byte = 0; byte < 256; byte++) {
  for (let table = 1; table < 4; table++) {
    const before = tables[table - 1]![byte]!;
    tables[table]![byte] = (before >>> 8) ^ tables[0][before & 255]!;
  }
}
const [first, second, third, fourth] = tables;

/** CRC-32C of `bytes` from `start` to `end`, as unsigned 32 bits. BoC files and validator set hashes use it. */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let crc = -1;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    crc = fourth[crc & 255]! ^ third[(crc >>> 8) & 255]! ^ second[(crc >>> 16) & 255]! ^ first[crc >>> 24]!;
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ first[(crc ^ bytes[at]!) & 255]!;
  return ~crc >>> 0;
}
