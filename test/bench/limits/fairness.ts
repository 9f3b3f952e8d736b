import { fork, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { makeKey } from '#service/limits/keys.ts';
import { startNetwork } from '#test/support/api-processes.ts';
import { startService } from '#test/support/service-process.ts';

import { median, quantile, type BenchResult } from '../bench.ts';

/** Requests a second of the plan of the one who asks for a hundred times as many. */
const limit = 10;
const abuse = 100;

/** What the others ask for meanwhile. */
const othersPerSecond = 100;

/** Calm and abused turns, one after the other, so that both see the machine in the same state. */
const turns = 12;
const turnMs = 2500;

/** The p99 of others may move by this part. */
const movedMax = 0.1;

const agent = new Agent({ keepAlive: true });

function latencyMs(url: string, key: string): Promise<number> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers: { 'x-api-key': key } }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(performance.now() - startedMs));
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Latencies of one turn, asked for at an even pace whatever the answers do. */
async function turn(url: string, key: string): Promise<number[]> {
  const startedMs = performance.now();
  const asked: Promise<number>[] = [];
  for (let at = 0; at < turnMs; at += 1000 / othersPerSecond) {
    const waitMs = at - (performance.now() - startedMs);
    if (waitMs > 0) await sleep(waitMs);
    asked.push(latencyMs(url, key));
  }
  return Promise.all(asked);
}

async function turnBeside(
  abuser: ChildProcess,
  url: string,
  key: string,
): Promise<{ latencies: number[]; refused: number }> {
  abuser.send('on');
  const latencies = await turn(url, key);
  abuser.send('off');
  const [refused] = (await once(abuser, 'message')) as [number];
  return { latencies, refused };
}

/** How far one client at a hundred times its limit moves the p99 of another one's requests, in a service process. */
export async function fairness(): Promise<BenchResult[]> {
  const [busy, other] = [makeKey(randomBytes), makeKey(randomBytes)];
  const rowOf = ({ id, sha256 }: typeof busy, plan: string) => ({ id, sha256: sha256.toString('hex'), plan });
  const folder = mkdtempSync(join(tmpdir(), 'bench-fairness-'));
  const [manifest, keyring] = [join(folder, 'tonapi.yaml'), join(folder, 'keyring.json')];
  const network = await startNetwork();
  const plans = [
    { name: 'small', requestsPerSecond: limit },
    { name: 'big', requestsPerSecond: 10 * othersPerSecond },
  ];
  writeFileSync(manifest, network.manifest({ plans, anonymousPlan: 'small' }));
  writeFileSync(keyring, JSON.stringify({ keys: [rowOf(busy, 'small'), rowOf(other, 'big')] }));
  const service = await startService(['--manifest', manifest, '--keyring', keyring]);
  const url = `${service.url}/api/v2/getMasterchainInfo`;
  const abuser = fork(join(import.meta.dirname, 'abuser.ts'), [url, busy.key, `${limit * abuse}`]);
  const calm: number[] = [];
  const beside: number[] = [];
  let refused = 0;
  await turn(url, other.key);
  for (let done = 0; done < turns; done++) {
    calm.push(quantile(await turn(url, other.key), 0.99));
    const abused = await turnBeside(abuser, url, other.key);
    beside.push(quantile(abused.latencies, 0.99));
    refused += abused.refused;
  }
  abuser.kill();
  await service.stop();
  await network.stop();
  rmSync(folder, { recursive: true });
  agent.destroy();
  const [value, baseline] = [median(beside), median(calm)];
  return [
    {
      name: `p99 of others while one asks ${abuse} times its limit (${Math.round((refused * 1000) / (turns * turnMs))}/s refused)`,
      value,
      unit: 'ms',
      baseline: { name: 'without it', value: baseline },
      goal: `<= ${movedMax * 100} % more`,
      met: value <= baseline * (1 + movedMax),
    },
  ];
}
