import { parseBoc } from '#service/decode/boc.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import type { DecodedBody } from '#service/decode/messages/decoded.ts';
import { decodeBody } from '#service/decode/messages/messages.ts';

/**
 * Decoded payload of a message; null without payload, or for an unknown payload (service/v3/README.md#decoding). @param boc of a single
 * cell, as stored
 */
export function viewPayload(boc: Uint8Array | null): DecodedBody | null {
  if (boc === null) return null;
  const bag = parseBoc(boc);
  const [root] = bag.roots as [number];
  // Contents of an exotic cell are not in the bag.
  if (bag.kind(root) !== 'ordinary') return null;
  return decodeBody(new CellSlice(bag, root)) ?? null;
}
