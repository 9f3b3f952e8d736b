import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Requests whose caller waits for `100 Continue` before it sends the body, with what sends it. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/**
 * Handles a request with `Expect: 100-continue` as any other, and leaves the `100 Continue` to the reader of the body. Node sends it before the
 * request is handled, and the caller of a refused request then sends its body in vain.
 */
export function deferContinue(server: Server): void {
  server.on('checkContinue', (message: IncomingMessage, response: ServerResponse) => {
    waiting.set(message, response);
    server.emit('request', message, response);
  });
}

/** Asks a caller that waits for it to send the body. */
export function askForBody(message: IncomingMessage): void {
  waiting.get(message)?.writeContinue();
  waiting.delete(message);
}

/** Whether the caller still waits: after another answer its body may never come, and the connection cannot go on. */
export function awaitsContinue(message: IncomingMessage): boolean {
  return waiting.has(message);
}
