import { parseBoc } from '../decode/boc.ts';
import { CellSlice } from '../decode/cell-slice.ts';
import type { DecodedBody } from '../decode/messages/decoded.ts';
import { decodeBody } from '../decode/messages/messages.ts';

/** What a payload inside a message says; null when there is none, or nobody knows (service/v3/README.md#decoding). @param boc of one cell, as it is stored */
export function viewPayload(boc: Uint8Array | null): DecodedBody | null {
  if (boc === null) return null;
  const bag = parseBoc(boc);
  const [root] = bag.roots as [number];
  // What an exotic cell names is not here.
  if (bag.kind(root) !== 'ordinary') return null;
  return decodeBody(new CellSlice(bag, root)) ?? null;
}
