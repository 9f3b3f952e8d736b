import { createServer } from 'node:net';

import { workerSlot } from './worker-slot.ts';

/** Below the ports that a system gives to connections and to listeners on port 0: none of these takes the port of a killed program. */
const firstPort = 12_000;

/** Ports of a thread. All slots end below 32,768, with the ports 10,000 above that nodes of a Redis cluster take too. */
const portsPerSlot = 600;

/** Files of a thread begin at different places. */
let next = Math.floor(Math.random() * portsPerSlot);

/** Returns a free port of loopback, for a program that cannot choose one. A test may kill the program and start it again on its port. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < portsPerSlot; tries++) {
    const port = firstPort + workerSlot * portsPerSlot + next;
    next = (next + 1) % portsPerSlot;
    if (await isFree(port)) return port;
  }
  throw new Error(`the ports of slot ${workerSlot} are all taken`);
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((done) => {
    server.once('error', () => done(false));
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
  });
}
