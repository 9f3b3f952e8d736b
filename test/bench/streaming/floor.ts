import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { WebSocketServer, type WebSocket } from 'ws';

import { EVENT_BYTES, MARK } from './orders.ts';
import { serve } from './serving.ts';

// The floor of the machine: bare `ws` and `node:http`, which send the same prepared bytes to each connection.

const sockets = new Set<WebSocket>();
const responses = new Set<ServerResponse>();

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' });
  response.write('event: connected\ndata: {"status":"subscribed"}\n\n');
  responses.add(response);
  response.once('close', () => responses.delete(response));
});
const upgrades = new WebSocketServer({ server, perMessageDeflate: false });
upgrades.on('connection', (socket) => {
  socket.on('error', () => undefined);
  socket.on('message', () => {
    socket.send('{"status":"subscribed"}');
    sockets.add(socket);
  });
  socket.once('close', () => sockets.delete(socket));
});
server.listen(0, '127.0.0.1', () => {
  const event = JSON.stringify({ text: MARK.padEnd(EVENT_BYTES - 15, 'x') });
  const chunk = Buffer.from(`event: event\ndata: ${event}\n\n`);
  const frame = Buffer.from(event);
  serve((server.address() as AddressInfo).port, () => {
    for (const socket of sockets) socket.send(frame, { binary: false });
    for (const response of responses) response.write(chunk);
  });
});
