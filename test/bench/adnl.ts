import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Round } from './adnl/asking.ts';
import { median, type Bench, type BenchResult } from './bench.ts';

/** Rounds of each figure, of which the median counts; both sides take turns, so that a busy machine hits both. */
const rounds = 5;

type Figure = {
  readonly name: string;
  /** Bytes of the answer's data; 0 is getMasterchainInfo. */
  readonly bytes: number;
  /** Queries of one round: ours and theirs. */
  readonly counts: readonly [number, number];
  readonly goal?: { readonly text: string; readonly met: (ours: number, theirs: number) => boolean };
};

const figures: readonly Figure[] = [
  {
    name: 'small query (getMasterchainInfo)',
    bytes: 0,
    counts: [4_000, 2_000],
    goal: { text: '<= 80 us', met: (ours) => ours <= 80 },
  },
  { name: 'answer of 4.3 kB', bytes: 4_300, counts: [3_000, 500] },
  {
    name: 'answer of 100 kB',
    bytes: 100_000,
    counts: [800, 60],
    goal: { text: '>= 20x', met: (ours, theirs) => theirs / ours >= 20 },
  },
  { name: 'answer of 1 MB', bytes: 1_000_000, counts: [80, 8] },
];

function start(file: string, ...args: string[]): ChildProcess {
  return fork(join(import.meta.dirname, 'adnl', file), args);
}

async function ask(client: ChildProcess, round: Round): Promise<number> {
  client.send(round);
  const [micros] = (await once(client, 'message')) as [number];
  return micros;
}

async function compare(ours: ChildProcess, theirs: ChildProcess, figure: Figure): Promise<BenchResult> {
  const { name, bytes, counts, goal } = figure;
  const spent: [number, number][] = [];
  for (let round = 0; round <= rounds; round++) {
    spent.push([await ask(ours, { bytes, count: counts[0] }), await ask(theirs, { bytes, count: counts[1] })]);
  }
  // The first round warms up.
  const counted = spent.slice(1);
  const value = median(counted.map(([mine]) => mine));
  const baseline = { name: 'adnl + ton-lite-client', value: median(counted.map(([, other]) => other)) };
  const result = { name, value, unit: 'us', baseline, ratio: baseline.value / value };
  return goal === undefined ? result : { ...result, goal: goal.text, met: goal.met(value, baseline.value) };
}

export const bench: Bench = {
  about:
    'client CPU of one query over ADNL on loopback, eight in flight, against the adnl package with ton-lite-client; ' +
    'each client in a process of its own',
  async run() {
    const server = start('answering.ts');
    const [{ port, publicKey }] = (await once(server, 'message')) as [{ port: number; publicKey: string }];
    const [ours, theirs] = ['ours', 'theirs'].map((side) => start('asking.ts', side, String(port), publicKey));
    if (ours === undefined || theirs === undefined) throw new Error('a client did not start');
    try {
      const results: BenchResult[] = [];
      for (const figure of figures) results.push(await compare(ours, theirs, figure));
      return results;
    } finally {
      for (const child of [ours, theirs, server]) child.disconnect();
    }
  },
};
