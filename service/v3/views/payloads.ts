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
  return viewDecoded(decodeBody(new CellSlice(bag, root)));
}

/** A decoded body or payload. A text comment has the fields of older clients (service/v3/README.md#decoding). */
export function viewDecoded(body: DecodedBody | undefined): DecodedBody | null {
  if (body === undefined) return null;
  if (!isComment(body)) return body;
  return { '@type': 'text_comment', comment: body.text, type: 'text_comment' };
}

type Comment = DecodedBody & { readonly text: string };

export function isComment(body: DecodedBody): body is Comment {
  return body['@type'] === 'text_comment';
}
