import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import type { ServerAnswer, ServerOrder } from './orders.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** The process side of a server under load. @param publish sends one event to each connection */
export function serve(port: number, publish: () => Promise<void> | void): void {
  async function publishAll(events: number): Promise<void> {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const before = process.cpuUsage();
    for (let count = 0; count < events; count++) {
      await publish();
      // The kernel takes the bytes before the next event.
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { user, system } = process.cpuUsage(before);
    delay.disable();
    answer({ kind: 'published', cpuMs: (user + system) / 1000, loopMs: delay.max / 1e6 });
  }

  process.on('message', (order: ServerOrder) => {
    if (order.kind === 'publish') void publishAll(order.events);
    else {
      collect();
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
