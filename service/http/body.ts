import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream';

import { restForTurn } from '../runtime/time-slice.ts';
import { HttpError } from './errors.ts';
import { askForBody, awaitsContinue } from './expectation.ts';

/** Reads bodies of requests, and counts the bytes of all bodies in memory. */
export type BodyReader = {
  /**
   * Reads a whole body. Sends `100 Continue` to a caller that waits for it. Throws HttpError:
   * - `body_too_large`: the length header or the count exceeds the bound
   * - `body_slow`: the deadline's signal comes first
   * - `body_encoded`: the body is compressed
   * - `body_cut`: the caller disconnects first
   * - `too_many_in_flight`: all bodies together would exceed their bound
   */
  read(message: IncomingMessage, signal: AbortSignal): Promise<Buffer>;
};

const TEXT_MAX = 64;

/**
 * A body over this length in bytes is used some turns of the event loop later, in a turn without other long work. libuv reads a busy
 * connection up to 32 times in one turn, and many connections in the same turn. So long bodies would all be parsed before the next read of
 * another caller.
 */
const LONG_BYTES = 16_384;

/** Refuses a body in another encoding than as it is (RFC 9110, 8.4). */
function requireIdentity({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return;
  throw new HttpError(
    'body_encoded',
    `Content-Encoding: expected none or identity, got ${encoding.slice(0, TEXT_MAX)}`,
  );
}

type BodyErrorCode = 'body_too_large' | 'body_slow' | 'body_cut' | 'too_many_in_flight';

/**
 * @param bytesMax bytes of one body
 * @param totalBytesMax bytes of all bodies that are being received at once
 */
export function createBodyReader(bytesMax: number, totalBytesMax: number): BodyReader {
  let totalBytes = 0;

  const read = (message: IncomingMessage, signal: AbortSignal): Promise<Buffer> => {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const chunks: Buffer[] = [];
    let received = 0;
    const settle = (then: () => void): void => {
      message.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut);
      signal.removeEventListener('abort', onAbort);
      totalBytes -= received;
      then();
    };
    const refuse = (code: BodyErrorCode): void => {
      settle(() => reject(new HttpError(code)));
      // Discards the rest of the body. The answer says whether the connection stays open.
      message.resume();
    };
    const onData = (chunk: Buffer): void => {
      received += chunk.length;
      totalBytes += chunk.length;
      chunks.push(chunk);
      if (received > bytesMax) refuse('body_too_large');
      else if (totalBytes > totalBytesMax) refuse('too_many_in_flight');
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, received)));
    const onCut = (): void => refuse('body_cut');
    const onAbort = (): void => refuse(isCallerGone(signal.reason) ? 'body_cut' : 'body_slow');
    message.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut);
    signal.addEventListener('abort', onAbort);
    return promise;
  };

  return {
    read: async (message, signal) => {
      if (Number(message.headers['content-length'] ?? 0) > bytesMax) throw new HttpError('body_too_large');
      requireIdentity(message);
      askForBody(message);
      const body = await read(message, signal);
      if (body.length > LONG_BYTES) await restForTurn(signal);
      return body;
    },
  };
}

function isCallerGone(reason: unknown): boolean {
  return reason instanceof HttpError && reason.code === 'caller_gone';
}

/** Unread bytes that are discarded to keep a connection, and with it the answer. Beyond this the connection is closed. */
const DISCARD_BYTES_MAX = 16 * 1_048_576;

/**
 * True when the connection must end with the answer, because the caller may continue to send. A body of moderate declared length is
 * discarded instead. Closing while a caller still sends can cause a reset before the caller has read the answer.
 */
export function mustClose(message: IncomingMessage): boolean {
  if (message.complete) return false;
  if (awaitsContinue(message)) return true;
  if (message.headers['transfer-encoding'] !== undefined) return true;
  return Number(message.headers['content-length'] ?? 0) > DISCARD_BYTES_MAX;
}

/**
 * Answers at once, unless the answer ends the connection while the caller still sends. Such a caller gets the answer after its body, as far
 * as the body may be discarded. An earlier answer would reach the caller as a reset. The listener's limit on receiving a request bounds the
 * wait.
 *
 * @param closes true when the answer ends the connection regardless of the caller's wish
 */
export function answerRunOut(message: IncomingMessage, closes: boolean, answer: () => void): void {
  const isLast = closes || message.httpVersion === '1.0' || /\bclose\b/i.test(message.headers.connection ?? '');
  if (!isLast || message.complete || message.destroyed || mustClose(message)) answer();
  else finished(message.resume(), () => answer());
}
