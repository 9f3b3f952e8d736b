import { named, scalar } from './shape.ts';

/** An integer beyond 2^53 that JSON shows with all its digits: what `JSON.rawJSON` makes. */
export type JsonInteger = number | { readonly rawJSON: string };

/** `JSON.rawJSON` of ECMAScript; the compiler's library does not have it yet. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => { readonly rawJSON: string } };

/** A JSON integer of 64 bits: readers that keep numbers as doubles lose its last digits. */
export const int64 = named('Int64', scalar<JsonInteger>({ type: 'integer', format: 'int64' }));

export function viewInteger(value: bigint): JsonInteger {
  const rounded = Number(value);
  return Number.isSafeInteger(rounded) ? rounded : rawJSON(value.toString());
}
