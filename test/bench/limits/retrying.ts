import { connect } from 'node:net';

/**
 * Client that ignores refusals, in a process of its own. It asks `URL` with `KEY` on `CONNECTIONS` connections, and asks again at once after each
 * answer. A message of its parent asks for the number of refusals since the last message.
 */
const [url = '', key = '', count = '0'] = process.argv.slice(2);

const { hostname, port, pathname } = new URL(url);
const text = `GET ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nx-api-key: ${key}\r\n\r\n`;

let refused = 0;

for (let opened = 0; opened < Number(count); opened++) {
  const socket = connect(Number(port), hostname, () => socket.write(text));
  socket.setNoDelay(true);
  socket.on('data', (bytes) => {
    // An answer of this size comes in one piece.
    if (bytes.toString('latin1', 9, 12) === '429') refused++;
    socket.write(text);
  });
  socket.on('error', () => undefined);
}

process.on('message', () => {
  process.send?.(refused);
  refused = 0;
});
process.once('disconnect', () => process.exit(0));
