import { createServer, type AddressInfo } from 'node:net';

/** Returns a free port of loopback, for a program that cannot choose a port itself. Another program may take it later. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
