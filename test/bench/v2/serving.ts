import { monitorEventLoopDelay } from 'node:perf_hooks';

import type { ServerReady, ServerSettings, Usage } from './contender.ts';

/** The process side of a contender: takes the settings, serves, and tells its CPU time when it is asked. */
export function serve(start: (settings: ServerSettings) => Promise<Running>): void {
  process.once('message', (settings: ServerSettings) => void answer(start(settings)));
}

type Running = ServerReady & { readonly close: () => Promise<void> };

async function answer(starting: Promise<Running>): Promise<void> {
  const { url, key, close } = await starting;
  const loopDelay = monitorEventLoopDelay({ resolution: 1 });
  loopDelay.enable();
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    const usage: Usage = { cpuMs: (user + system) / 1000, loopDelayMs: loopDelay.percentile(99) / 1e6 };
    loopDelay.reset();
    process.send?.(usage);
  });
  process.once('disconnect', () => {
    void close().finally(() => process.exit(0));
  });
  process.send?.({ url, key });
}
