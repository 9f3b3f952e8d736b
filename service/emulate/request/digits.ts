import type { JsonSchema } from '#service/contract/shape.ts';

/** Digits of the largest number of so many bits. */
function digitsMax(bits: number): number {
  return (2n ** BigInt(bits) - 1n).toString().length;
}

/** Pattern of decimal texts of so many bits, for documents. */
export function digitsPattern(bits: number): JsonSchema & { readonly pattern: string } {
  return { pattern: `^[0-9]{1,${digitsMax(bits)}}$` };
}

/** Reads a decimal text without a sign. Undefined for anything else, and beyond the bits. */
export function readDigits(raw: unknown, bits: number): bigint | undefined {
  if (typeof raw !== 'string' || raw.length > digitsMax(bits) || !/^\d+$/.test(raw)) return undefined;
  const value = BigInt(raw);
  return value < 2n ** BigInt(bits) ? value : undefined;
}
