import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Another way to the same Postgres, which can lose all packets as a divided network does. */
export type SilentRelay = {
  readonly url: string;
  /** True: connections stay open, and nothing passes in either direction. */
  isSilent: boolean;
  close(): void;
};

/** @param target URL of a Postgres */
export async function startSilentRelay(target: string): Promise<SilentRelay> {
  const url = new URL(target);
  const [port, host] = [Number(url.port), url.hostname];
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect(port, host);
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(one);
      one.on('data', (bytes) => relay.isSilent || other.write(bytes));
      one.on('error', () => undefined);
      one.on('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const relay: SilentRelay = {
    url: url.href,
    isSilent: false,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
  return relay;
}
