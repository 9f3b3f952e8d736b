import type { Server } from 'node:http';
import type { Socket } from 'node:net';

import { addressSubject } from '../limits/client-address.ts';
import { writeRaw } from './malformed-requests.ts';

export type ConnectionsOptions = {
  /** Connections that one address may have open; `Infinity` for no limit. */
  readonly max: number;
  /** Headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called for each connection that is refused. */
  readonly onRefusal: () => void;
};

/**
 * Refused connections of one address that wait until their answer is read, at most a second. Further connections are closed without an
 * answer.
 */
const REFUSED_MAX = 16;

/** Open connections of one address. */
type Open = { served: number; refused: number };

/**
 * Bounds the open connections of an address; an IPv6 address counts by its /64. A connection beyond the bound gets a 503 and is closed
 * before HTTP is parsed. A single address thus cannot take all connections of the listener.
 */
export function boundConnections(
  server: Server,
  { max: given, headers, onRefusal }: ConnectionsOptions,
): { setMax(max: number): void } {
  /** Has at most as many entries as there are connections: an address without connections is removed. */
  const byAddress = new Map<string, Open>();
  let max = given;

  const hold = (socket: Socket, address: string, open: Open, kind: keyof Open): void => {
    open[kind]++;
    byAddress.set(address, open);
    socket.once('close', () => {
      open[kind]--;
      if (open.served + open.refused === 0) byAddress.delete(address);
    });
  };

  const refuse = (socket: Socket, address: string, open: Open): void => {
    onRefusal();
    socket.on('error', () => socket.destroy());
    if (open.refused >= REFUSED_MAX) {
      socket.destroy();
      return;
    }
    hold(socket, address, open, 'refused');
    writeRaw(socket, 503, 'too many connections from this address', { ...headers, 'retry-after': '1' });
  };

  const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const address = addressSubject(socket.remoteAddress ?? '');
    const open = byAddress.get(address) ?? { served: 0, refused: 0 };
    if (open.served >= max) {
      refuse(socket, address, open);
      return;
    }
    hold(socket, address, open, 'served');
    for (const listener of listeners) listener.call(server, socket);
  });

  return {
    setMax(changed) {
      max = changed;
    },
  };
}
