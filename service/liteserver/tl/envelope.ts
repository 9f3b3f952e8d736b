import { bytes, idText, int, uint } from './codec.ts';
import { TlError } from './errors.ts';
import { liteServerError, serverBusy } from './lite-api.ts';
import { decodeTl, record } from './record.ts';
import { TlReader } from './reader.ts';
import { TlWriter } from './writer.ts';

// Envelope of a function (service/liteserver/README.md#envelope).

const query = record('liteServer.query', 'Object', { data: bytes });
const queryPrefix = record('liteServer.queryPrefix', 'Object', {});
const waitMasterchainSeqno = record('liteServer.waitMasterchainSeqno', 'Object', { seqno: uint, timeoutMs: int });

export const envelopeRecords = [query, queryPrefix, waitMasterchainSeqno] as const;

/** Request to wait until the masterchain block and all its shard blocks are applied; at most 10 s. */
export type WaitMasterchain = { readonly seqno: number; readonly timeoutMs: number };

/** Wraps a function's bytes in `liteServer.query`, with the wait prefix if given. */
export function encodeEnvelope(request: Buffer, wait?: WaitMasterchain): Buffer {
  const writer = new TlWriter();
  writer.uint32(query.id);
  if (wait === undefined) {
    writer.byteString(request);
  } else {
    const inner = new TlWriter();
    waitMasterchainSeqno.boxed.write(inner, wait);
    inner.raw(request, request.length);
    writer.byteString(inner.finish());
  }
  return writer.finish();
}

/**
 * Takes the function's bytes out of a `liteServer.query` or `liteServer.queryPrefix`, and the wait before it. `request` may be empty or unknown; the
 * caller handles that.
 * @throws TlError `tl_unknown_id` when it is neither envelope (a node does not answer then), `tl_truncated`
 */
export function decodeEnvelope(payload: Buffer): { request: Buffer; wait?: WaitMasterchain } {
  const reader = new TlReader(payload);
  const id = reader.uint32();
  let request: Buffer;
  if (id === query.id) {
    request = reader.byteString();
    reader.end(query.name);
  } else if (id === queryPrefix.id) {
    request = reader.raw(reader.remaining);
  } else {
    throw new TlError('tl_unknown_id', `no lite-server envelope has the id ${idText(id)}`, {
      what: query.name,
      offset: 0,
    });
  }
  if (request.length < 4 || request.readUInt32LE(0) !== waitMasterchainSeqno.id) return { request };
  const inner = new TlReader(request);
  const wait = waitMasterchainSeqno.boxed.read(inner);
  return { request: inner.raw(inner.remaining), wait };
}

/** Returns the error in an answer, or undefined for another answer. @throws TlError for a malformed error */
export function errorAnswer(answer: Buffer): { code: number; text: string } | undefined {
  if (answer.length < 4) return undefined;
  const id = answer.readUInt32LE(0);
  const kind = id === liteServerError.id ? liteServerError : id === serverBusy.id ? serverBusy : undefined;
  if (kind === undefined) return undefined;
  const { code, message } = decodeTl(kind.boxed, answer);
  return { code, text: message };
}
