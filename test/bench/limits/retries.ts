import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { BenchResult } from '../bench.ts';
import { startLimitedService } from './limited-service.ts';

/** A client with a pool of connections, and one with more connections than the service delays refusals. */
const [pooled, beyond] = [64, 1000];

/** Time before a measurement: the rate is used up, and the refusals are persistent. */
const warmMs = 3000;
const measuredMs = 8000;

const goal = 15;

/** CPU of a process since its start, in seconds. Linux counts hundredths of a second. */
function cpuSeconds(pid: number): number {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(11, 13).map(Number) as [number, number];
  return (user + system) / 100;
}

/** CPU of a pod beside a client that asks again as soon as it is refused. */
export async function retries(): Promise<BenchResult[]> {
  const service = await startLimitedService({ small: 10, big: 10 });
  const beside = async (connections: number): Promise<{ readonly percent: number; readonly refused: number }> => {
    const file = join(import.meta.dirname, 'retrying.ts');
    const client = fork(file, [service.url, service.smallKey, String(connections)]);
    const refusals = async (): Promise<number> => {
      client.send('count');
      const [refused] = (await once(client, 'message')) as [number];
      return refused;
    };
    await sleep(warmMs);
    await refusals();
    const [cpu, startedMs] = [cpuSeconds(service.pid), performance.now()];
    await sleep(measuredMs);
    const seconds = (performance.now() - startedMs) / 1000;
    const result = {
      percent: ((cpuSeconds(service.pid) - cpu) * 100) / seconds,
      refused: Math.round((await refusals()) / seconds),
    };
    client.disconnect();
    await once(client, 'exit');
    return result;
  };
  const delayed = await beside(pooled);
  const prompt = await beside(beyond);
  await service.stop();
  return [
    {
      name: `CPU of a pod beside a client that asks again at once on ${pooled} connections (${delayed.refused}/s refused)`,
      value: delayed.percent,
      unit: '% of a core',
      baseline: {
        name: `${beyond} connections, 256 of them delayed (${prompt.refused}/s refused)`,
        value: prompt.percent,
      },
      goal: `<= ${goal} %`,
      met: delayed.percent <= goal,
    },
  ];
}
