import { crc16 } from '../decode/address.ts';

/** `crc16(name) | 0x10000`, the compilers' number of a method of this name. */
export function methodIdOf(name: string): number {
  return crc16(Buffer.from(name)) | 0x1_0000;
}
