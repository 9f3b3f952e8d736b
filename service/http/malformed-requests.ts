import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import { bareExtra, failureEnvelope } from './envelope.ts';
import { jsonType } from './headers.ts';

/** Answers for errors of the HTTP parser. Any other error is a malformed request. */
const statuses: ReadonlyMap<string, readonly [status: number, text: string]> = new Map([
  ['HPE_HEADER_OVERFLOW', [431, 'request headers too large']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', [413, 'request body too large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'request took too long']],
]);

/** Long enough for an answer of 300 bytes to arrive anywhere. */
const LINGER_MS = 1000;

/** Answers connections whose bytes are no HTTP request, each once. */
export type MalformedAnswers = {
  answer(error: NodeJS.ErrnoException, socket: Duplex): void;
};

/** @param onAnswer called for each connection that ends so */
export function createMalformedAnswers(
  headers: Readonly<Record<string, string>>,
  onAnswer: () => void,
): MalformedAnswers {
  // The parser complains again about what comes behind the first fault.
  const answered = new WeakSet<Duplex>();
  return {
    answer(error, socket) {
      if (answered.has(socket)) return;
      answered.add(socket);
      if (error.code === 'ECONNRESET') {
        socket.destroy();
        return;
      }
      onAnswer();
      const [status, text] = statuses.get(error.code ?? '') ?? [400, 'malformed HTTP request'];
      writeRaw(socket, status, text, headers);
    },
  };
}

/** Answers an `Expect` other than `100-continue`. */
export function answerExpectation(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  const failure = { status: 417, text: 'expectation failed', code: 'malformed', unexpected: false };
  const body = failureEnvelope(failure, bareExtra);
  response.writeHead(417, {
    ...headers,
    'content-type': jsonType,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  response.end(body);
}

/**
 * Writes a whole failure to a connection that has no response object, and ends it.
 * @param headers of the answer, with the names in lower case
 */
export function writeRaw(
  socket: Duplex,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = failureEnvelope({ status, text, code: 'malformed', unexpected: false }, bareExtra);
  const lines = Object.entries({
    ...headers,
    'content-type': jsonType,
    'content-length': Buffer.byteLength(body).toString(),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  // Discards the rest of the request for a moment. Destroying at once can cause a reset before the answer arrives.
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n${lines.join('')}\r\n${body}`);
}
