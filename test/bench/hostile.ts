import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import type { Bench, BenchResult } from './bench.ts';
import { quantile, wantedOf } from './bench.ts';
import { hostileInputs, type HostileInput } from './hostile/inputs.ts';
import { openScene, type Scene } from './hostile/scene.ts';
import { measureVmShares, type VmShares } from './hostile/vm-shares.ts';

/** Longest delay of another caller, on a quiet machine. */
const LONGEST_MS_GOAL = 50;

/** The median of an honest get-method, in medians of one alone. */
const SHARE_GOAL = 2;

/** Requests a second of the other caller, at an even pace whatever its answers do. */
const othersPerSecond = 100;
const turnMs = 3000;

/** Turns with and without the hostile caller, one after the other, so that both see the machine in the same state. */
const rounds = 4;

/** Requests of the hostile caller that wait for an answer at once. */
const hostileAtOnce = 2;

/** Requests written before a turn and sent round and round: the turn measures the service, not the writing of its input. */
const REQUESTS = 256;

/** A request of the hostile caller is given up after this time. */
const givenUpMs = 30_000;

const loops = 'looping addresses';
const parts = [...hostileInputs.map(({ name }) => name), loops];

export const bench: Bench = {
  about: `delays of a caller beside another one that sends hostile inputs, and without: [--only ${parts.map((name) => `"${name}"`).join(' ')}]`,
  async run(options) {
    const names = wantedOf(options, parts);
    const inputs = hostileInputs.filter(({ name }) => names.includes(name));
    const shares = names.includes(loops) ? sharesOf(await measureVmShares()) : [];
    return [...(inputs.length > 0 ? await measureInputs(inputs) : []), ...shares];
  },
};

async function measureInputs(inputs: readonly HostileInput[]): Promise<BenchResult[]> {
  const scene = await openScene(inputs);
  const { url, key } = scene.service;
  const args = [`${url}/api/v2/getMasterchainInfo`, key, `${othersPerSecond}`, 'any'];
  const others = fork(join(import.meta.dirname, 'limits/others.ts'), args);
  try {
    // The first turn is for what is compiled and connected.
    await turnOf(others);
    const results: BenchResult[] = [];
    for (const input of inputs) results.push(...(await measure(input, scene, others)));
    return results;
  } finally {
    others.disconnect();
    await scene.close();
  }
}

function sharesOf({ alone, ...beside }: VmShares): BenchResult[] {
  return Object.entries(beside).map(([name, value]) => ({
    name: `get-method of a key beside ${name.replace('beside', '')} addresses whose get-methods loop, p50`,
    value,
    unit: 'ms',
    baseline: { name: 'alone', value: alone },
    ratio: alone / value,
    goal: `<= ${SHARE_GOAL}x of alone`,
    met: value <= SHARE_GOAL * alone,
  }));
}

async function measure(input: HostileInput, scene: Scene, others: ChildProcess): Promise<BenchResult[]> {
  const [calm, beside]: [number[], number[]] = [[], []];
  const answers = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    calm.push(...(await turnOf(others)));
    const attack = startAttack(input, scene, answers);
    beside.push(...(await turnOf(others)));
    await attack.stop();
  }
  const seen = [...answers].map(([answer, count]) => `${count} x ${answer}`).join(', ');
  const figure = (name: string, of: (latencies: readonly number[]) => number): BenchResult => ({
    name: `${input.name}: ${name}`,
    value: of(beside),
    unit: 'ms',
    baseline: { name: 'without it', value: of(calm) },
  });
  const longest = figure(`longest (hostile answers: ${seen})`, (latencies) => Math.max(...latencies));
  return [
    figure('p50', (latencies) => quantile(latencies, 0.5)),
    figure('p99', (latencies) => quantile(latencies, 0.99)),
    { ...longest, goal: `<= ${LONGEST_MS_GOAL} ms`, met: longest.value <= LONGEST_MS_GOAL },
  ];
}

async function turnOf(others: ChildProcess): Promise<number[]> {
  others.send(turnMs);
  const [latencies] = (await once(others, 'message')) as [number[]];
  return latencies;
}

/** Sends the input again and again until it is stopped, which waits for the answers in progress. */
function startAttack(input: HostileInput, scene: Scene, answers: Map<string, number>): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const requests = Array.from({ length: REQUESTS }, () => writeRequest(scene, input));
  let sent = 0;
  const send = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const answer = await answerOf(requests[sent++ % REQUESTS]!);
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  };
  const sending = Array.from({ length: hostileAtOnce }, send);
  return {
    async stop() {
      stopping.abort();
      await Promise.all(sending);
    },
  };
}

type WrittenRequest = { readonly url: string; readonly init: RequestInit };

function writeRequest({ service, requestOf }: Scene, input: HostileInput): WrittenRequest {
  const { path, body } = requestOf(input);
  const headers = { 'x-api-key': service.key, 'content-type': 'application/json' };
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: Buffer.from(JSON.stringify(body)) };
  return { url: `${service.url}${path}`, init };
}

/** The status of an answer, or that there was none. */
async function answerOf({ url, init }: WrittenRequest): Promise<string> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(givenUpMs) });
    await response.arrayBuffer();
    return `${response.status}`;
  } catch {
    return 'no answer';
  }
}
