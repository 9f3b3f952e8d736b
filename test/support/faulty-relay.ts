import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/** Ways in which a proxy loses a connection. */
export const breaks = ['reset', 'end', 'forget'] as const;

export type Break = (typeof breaks)[number];

/** A proxy in front of one server, which loses connections. */
export type FaultyRelay = {
  readonly port: number;
  /** Milliseconds by which each piece of data is late. */
  delayMs: number;
  /**
   * Loses some connections: `reset` for both ends, `end` as a proper end, `forget` for the caller alone. The server then has a half-open
   * connection.
   * @param share of the connections, each chosen at random
   * @returns the number of lost connections
   */
  readonly lose: (how: Break, share: number) => number;
  readonly close: () => Promise<void>;
};

type Pair = { readonly incoming: Socket; readonly outgoing: Socket };

/** @param target port of loopback @param random 0..1 */
export async function startFaultyRelay(target: number, random: () => number): Promise<FaultyRelay> {
  const pairs = new Set<Pair>();
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const pair = { incoming, outgoing: connect(target, '127.0.0.1') };
    pairs.add(pair);
    for (const socket of [incoming, pair.outgoing]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        if (!pairs.delete(pair)) return;
        incoming.destroy();
        pair.outgoing.destroy();
      });
    }
    incoming.pipe(late()).pipe(pair.outgoing).pipe(late()).pipe(incoming);
  });

  const late = (): Transform =>
    new Transform({
      transform(chunk, _encoding, done) {
        if (relay.delayMs === 0) done(null, chunk);
        else setTimeout(done, relay.delayMs, null, chunk);
      },
    });

  function lose(pair: Pair, how: Break): void {
    pairs.delete(pair);
    const { incoming, outgoing } = pair;
    if (how === 'end') {
      incoming.end();
      outgoing.end();
    } else {
      incoming.resetAndDestroy();
      if (how === 'reset') outgoing.resetAndDestroy();
      else outgoing.pause();
    }
  }

  const relay: FaultyRelay = {
    get port() {
      return (server.address() as AddressInfo).port;
    },
    delayMs: 0,
    lose(how, share) {
      const lost = [...pairs].filter(() => random() < share);
      for (const pair of lost) lose(pair, how);
      return lost.length;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return relay;
}
