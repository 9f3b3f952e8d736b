import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Requests whose caller waits for `100 Continue` before it sends the body, with what sends it. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/**
 * Handles a request with `Expect: 100-continue` like any other, and leaves the `100 Continue` to the reader of the body. Node would send it
 * before the request is handled. The caller of a refused request would then send its body in vain.
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

/** True while the caller waits for `100 Continue`. After another answer its body may never come, and the connection cannot continue. */
export function awaitsContinue(message: IncomingMessage): boolean {
  return waiting.has(message);
}
