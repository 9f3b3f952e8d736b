import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { quantile, type BenchResult } from '../bench.ts';
import { startLimitedService } from './limited-service.ts';

/** Requests a second of the plan of the one who asks for a hundred times as many. */
const limit = 10;
const abuse = 100;

/** What the others ask for meanwhile, and how long a turn is: 24,000 latencies each way, of which 240 are above the p99. */
const othersPerSecond = 400;
const turnMs = 2000;

/**
 * Calm and abused turns, one after the other, so that both see the machine in the same state; all latencies of a kind count together. In calm turns
 * the same flood goes to a sink: what it takes of the machine is no fault of the service. Nothing is bound to a core: a service bound to one with all its
 * threads waits there for its own collector and compiler.
 */
const turns = 30;

/** The p99 of others may move by this part. */
const movedMax = 0.1;

async function turnOf(others: ChildProcess): Promise<number[]> {
  others.send(turnMs);
  const [latencies] = (await once(others, 'message')) as [number[]];
  return latencies;
}

type Turn = { readonly latencies: readonly number[]; readonly refused: number };

/** Of a flood that asks the service, or a sink. */
async function turnBeside(flood: ChildProcess, others: ChildProcess): Promise<Turn> {
  flood.send('on');
  const latencies = await turnOf(others);
  flood.send('off');
  const [refused] = (await once(flood, 'message')) as [number];
  return { latencies, refused };
}

function clientOf(file: string, ...args: string[]): ChildProcess {
  return fork(join(import.meta.dirname, file), args);
}

/** How far one client at a hundred times its limit moves the p99 of other clients' requests, all of one service process. */
export async function fairness(): Promise<BenchResult[]> {
  const { url, smallKey, bigKey, stop } = await startLimitedService({ small: limit, big: 10 * othersPerSecond });
  const sink = clientOf('sink.ts');
  const [{ port }] = (await once(sink, 'message')) as [{ port: number }];
  const rate = `${limit * abuse}`;
  const flood = clientOf('flood.ts', url, smallKey, rate);
  const flooded = clientOf('flood.ts', `http://127.0.0.1:${port}/api/v2/getMasterchainInfo`, smallKey, rate);
  const others = clientOf('others.ts', url, bigKey, `${othersPerSecond}`);
  const clients = [sink, flood, flooded, others];
  const calm: number[] = [];
  const beside: number[] = [];
  let refused = 0;
  for (let done = -1; done < turns; done++) {
    const [without, abused] = [await turnBeside(flooded, others), await turnBeside(flood, others)];
    // The first of each is for what is compiled and connected.
    if (done < 0) continue;
    calm.push(...without.latencies);
    beside.push(...abused.latencies);
    refused += abused.refused;
  }
  for (const client of clients) client.disconnect();
  await stop();
  const [value, baseline] = [quantile(beside, 0.99), quantile(calm, 0.99)];
  return [
    {
      name: `p99 of others while one asks ${abuse} times its limit (${Math.round((refused * 1000) / (turns * turnMs))}/s refused; p50 ${quantile(beside, 0.5).toFixed(2)} ms, without it ${quantile(calm, 0.5).toFixed(2)} ms)`,
      value,
      unit: 'ms',
      baseline: { name: 'without it', value: baseline },
      goal: `<= ${movedMax * 100} % more`,
      met: value <= baseline * (1 + movedMax),
    },
  ];
}
