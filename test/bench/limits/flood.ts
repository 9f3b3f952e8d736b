import { connect, type Socket } from 'node:net';

/**
 * A client far over its limit, in a process of its own: asks `URL` with `KEY` at `RATE` requests a second while it is told to, at an even pace, each on a
 * connection that is free. It costs next to nothing itself: others are timed beside it.
 */
const [url = '', key = '', rate = '0'] = process.argv.slice(2);

const { hostname, port, pathname } = new URL(url);
const text = `GET ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nx-api-key: ${key}\r\n\r\n`;

/** Below the 1,024 that one address may have open. A refusal may be held back for a second, so that a higher `RATE` waits for connections. */
const connectionsMax = 1000;

const state = { on: false, refused: 0, asked: 0, startedMs: 0 };
const free: Socket[] = [];
let connections = 0;

function open(): void {
  connections++;
  const socket = connect(Number(port), hostname, () => free.push(socket));
  socket.setNoDelay(true);
  socket.on('data', (bytes) => {
    // An answer of this size comes in one piece.
    if (bytes.toString('latin1', 9, 12) === '429') state.refused++;
    free.push(socket);
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    connections--;
    if (free.includes(socket)) free.splice(free.indexOf(socket), 1);
  });
}

setInterval(() => {
  if (!state.on) return;
  const due = ((performance.now() - state.startedMs) * Number(rate)) / 1000;
  for (; state.asked < due; state.asked++) {
    const socket = free.shift();
    if (socket !== undefined) socket.write(text);
    else if (connections < connectionsMax) open();
  }
}, 1);

process.on('message', (message: 'on' | 'off') => {
  state.on = message === 'on';
  if (!state.on) process.send?.(state.refused);
  Object.assign(state, { refused: 0, asked: 0, startedMs: performance.now() });
});
process.once('disconnect', () => process.exit(0));
