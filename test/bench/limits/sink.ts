import { createServer } from 'node:net';

// Takes in calm turns what the service takes in the others, so that the core of the clients has the same work in both: says 429 to whatever comes, a
// moment later, as the service does with all but the first of a second.
const heldMs = 100;
const body = '{"ok":false,"error":"Ratelimit exceeded","code":429,"@extra":"1795000000:_:0.1"}';
const answer = `HTTP/1.1 429 Too Many Requests\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('data', () => void setTimeout(() => socket.write(answer), heldMs));
  socket.on('error', () => undefined);
});
server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
process.once('disconnect', () => process.exit(0));
