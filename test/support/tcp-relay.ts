import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Another way to the same server, which can be cut. */
export type TcpRelay = {
  /** `127.0.0.1:port`. */
  readonly address: string;
  /** Ends every connection and takes no more. */
  cut(): void;
};

/** @param target `host:port` */
export function startTcpRelay(target: string): Promise<TcpRelay> {
  const [host = '', port] = target.split(':');
  const sockets = new Set<Socket>();
  const server: Server = createServer((incoming) => {
    const outgoing = connect(Number(port), host);
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    incoming.on('close', () => outgoing.destroy());
    outgoing.on('close', () => incoming.destroy());
    incoming.pipe(outgoing).pipe(incoming);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve({
        address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
        cut() {
          server.close();
          for (const socket of sockets) socket.destroy();
        },
      });
    });
  });
}
