import { once } from 'node:events';

import { WebSocket } from 'ws';

/** Callers in this process that note when events come. */
export type Watchers = {
  /** Resolves to the time at which so many further events of a level have come. Called before they are caused. */
  readonly arrived: (finality: string, count: number) => Promise<number>;
  readonly close: () => void;
};

/** A subscription of each watcher. */
export type WatchedWish = {
  readonly addresses: readonly string[];
  readonly min_finality: 'pending' | 'finalized';
};

type Awaited = { left: number; readonly resolve: (atMs: number) => void };

/** Opens some WebSockets at a pod. An event comes for each transaction at its own level. @param url of the pod */
export async function watch(url: string, count: number, wish: WatchedWish): Promise<Watchers> {
  const awaited = new Map<string, Awaited>();
  const take = (data: Buffer): void => {
    const { finality } = JSON.parse(data.toString('utf8')) as { readonly finality?: string };
    const one = awaited.get(finality ?? '');
    if (one === undefined || --one.left > 0) return;
    awaited.delete(finality ?? '');
    one.resolve(performance.now());
  };
  const sockets = await Promise.all(Array.from({ length: count }, () => open(url, wish)));
  for (const socket of sockets) socket.on('message', take);
  return {
    arrived: (finality, left) => new Promise((resolve) => awaited.set(finality, { left, resolve })),
    close() {
      for (const socket of sockets) socket.terminate();
    },
  };
}

async function open(url: string, wish: WatchedWish): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/api/streaming/v2/ws`, { perMessageDeflate: false });
  await once(socket, 'open');
  socket.send(
    JSON.stringify({ operation: 'subscribe', types: ['transactions'], finality_scope: 'transaction', ...wish }),
  );
  const [answer] = (await once(socket, 'message')) as [Buffer];
  if (!answer.toString('utf8').includes('"subscribed"')) throw new Error(`refused: ${answer.toString('utf8')}`);
  return socket;
}
