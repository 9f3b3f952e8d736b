import { createServer } from 'node:net';

import { workerSlot } from './worker-slot.ts';

/** Below the ports that a system gives to outgoing connections and to listeners on port 0: none of these takes the port of a killed program. */
const firstPort = 12_000;

/** Ports of a thread. The ports of all slots, and those 10,000 above, which nodes of a Redis cluster take too, are below 32,768. */
const portsPerSlot = 600;

/** Files of a thread begin at different places. */
let next = Math.floor(Math.random() * portsPerSlot);

/** Returns a free port of loopback, for a program that cannot choose a port itself, and that a test may kill and start again on the same port. */
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
