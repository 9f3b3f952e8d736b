import { createServer, type Server } from 'node:net';

import { listenOn } from '../listen.ts';

/** A port that the process is going to listen on. */
export type WantedPort = { readonly option: string; readonly host: string; readonly port: number };

/**
 * Listens on all ports for a moment. A taken port, also by another port of the list, is thus reported before anything starts.
 * @throws StartError `port_in_use`, `address_unusable`
 */
export async function refuseTakenPorts(wanted: readonly WantedPort[]): Promise<void> {
  const servers: Server[] = [];
  try {
    for (const { option, host, port } of wanted) {
      if (port !== 0) await listenOn(option, port, () => hold(host, port, servers));
    }
  } finally {
    await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  }
}

function hold(host: string, port: number, servers: Server[]): Promise<void> {
  const server = createServer();
  return new Promise((done, fail) => {
    server.once('error', fail);
    server.listen({ host, port }, () => {
      servers.push(server);
      done();
    });
  });
}
