import { collectGarbage } from '#test/support/garbage.ts';

import type { ServerAnswer, ServerOrder } from './orders.ts';

/** Runs work. Returns the longest turn of the loop in CPU of its thread: another process on the core makes no turn longer. */
async function longestTurn(work: () => Promise<void>): Promise<number> {
  let longest = 0;
  let isDone = false;
  let before = process.threadCpuUsage();
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, user + system);
    before = process.threadCpuUsage();
    if (!isDone) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isDone = true;
  await new Promise((resolve) => setImmediate(resolve));
  return longest / 1000;
}

/** Orders that only one kind of server takes. */
type Further = (order: ServerOrder) => Promise<ServerAnswer | undefined>;

/** The process side of a server under load. @param publish sends one event to each connection */
export function serve(port: number, publish: () => Promise<void> | void, further?: Further): void {
  async function publishAll(events: number): Promise<void> {
    const before = process.cpuUsage();
    const loopMs = await longestTurn(async () => {
      for (let count = 0; count < events; count++) {
        await publish();
        // The kernel takes the bytes before the next event.
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    const { user, system } = process.cpuUsage(before);
    answer({ kind: 'published', cpuMs: (user + system) / 1000, loopMs });
  }

  process.on('message', (order: ServerOrder) => {
    if (order.kind === 'publish') void publishAll(order.events);
    else if (order.kind === 'cpu') {
      const { user, system } = process.cpuUsage();
      answer({ kind: 'cpu', cpuMs: (user + system) / 1000 });
    } else if (order.kind !== 'memory') void further?.(order).then((given) => given && answer(given));
    else {
      collectGarbage();
      const { rss, heapUsed } = process.memoryUsage();
      answer({ kind: 'memory', rssBytes: rss, heapBytes: heapUsed });
    }
  });
  process.once('disconnect', () => process.exit(0));
  answer({ kind: 'ready', port });
}

function answer(given: ServerAnswer): void {
  process.send?.(given);
}
