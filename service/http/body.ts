import type { IncomingMessage } from 'node:http';

import { HttpError } from './errors.ts';

/**
 * Reads a whole body. Throws HttpError: `body_too_large` as soon as it is known to be, by its length header or by counting; `body_slow` when the
 * deadline's signal comes first; `body_cut` when the connection ends first.
 */
export function readBody(message: IncomingMessage, bytesMax: number, signal: AbortSignal): Promise<Buffer> {
  if (Number(message.headers['content-length'] ?? 0) > bytesMax) {
    return Promise.reject(new HttpError('body_too_large'));
  }
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let received = 0;
  const settle = (then: () => void): void => {
    message.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut);
    signal.removeEventListener('abort', onSlow);
    then();
  };
  const refuse = (code: 'body_too_large' | 'body_slow' | 'body_cut'): void => {
    settle(() => reject(new HttpError(code)));
    // Whatever still comes is thrown away; the answer says whether the connection goes on.
    message.resume();
  };
  const onData = (chunk: Buffer): void => {
    received += chunk.length;
    chunks.push(chunk);
    if (received > bytesMax) refuse('body_too_large');
  };
  const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, received)));
  const onCut = (): void => refuse('body_cut');
  const onSlow = (): void => refuse('body_slow');
  message.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut);
  signal.addEventListener('abort', onSlow);
  return promise;
}

/** Unread bytes that are thrown away to keep a connection, and with it the answer; beyond this the connection is closed. */
const discardBytesMax = 16 * 1_048_576;

/**
 * True when the connection must end with the answer because the caller may go on sending. A body of moderate declared length is let run out instead: closing
 * while a caller still sends can reach it as a reset before it has read the answer.
 */
export function mustClose(message: IncomingMessage): boolean {
  if (message.complete) return false;
  if (message.headers['transfer-encoding'] !== undefined) return true;
  return Number(message.headers['content-length'] ?? 0) > discardBytesMax;
}
