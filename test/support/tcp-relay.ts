import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Another way to the same server, which can be cut. */
export type TcpRelay = {
  /** `127.0.0.1:port`. */
  readonly address: string;
  /** Ends every connection and lets nobody in. */
  cut(): void;
  /** Lets in again. */
  mend(): void;
  close(): Promise<void>;
};

/** @param target `host:port` */
export function startTcpRelay(target: string): Promise<TcpRelay> {
  const [host = '', port] = target.split(':');
  const sockets = new Set<Socket>();
  let isCut = false;
  const drop = (): void => sockets.forEach((socket) => socket.destroy());
  const server = createServer((incoming) => {
    if (isCut) {
      incoming.destroy();
      return;
    }
    const outgoing = connect(Number(port), host);
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(one);
      one.on('error', () => one.destroy());
      one.on('close', () => {
        other.destroy();
        sockets.delete(one);
      });
    }
    incoming.pipe(outgoing).pipe(incoming);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve({
        address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
        cut() {
          isCut = true;
          drop();
        },
        mend() {
          isCut = false;
        },
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            drop();
          }),
      });
    });
  });
}
