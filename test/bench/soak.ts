import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

import { startService } from '#test/support/service-process.ts';

import type { Bench, BenchResult } from './bench.ts';
import { slopeOf } from './soak/slope.ts';
import { startMixedLoad, type LoadCounts } from './soak/load.ts';
import { everyVariable, folderVariable, type ThreadSample } from './soak/thread-memory.ts';

const MINUTES = 60;
const RATE = 50;
const MINUTE_MS = 60_000;
const MIB = 2 ** 20;

/** The line counts as flat when so much is added in an hour at most. */
const SLOPE_GOAL = 60;

/** Memory of the process at one minute, in MiB; all but `rss` summed over its threads. */
type Minute = Readonly<Record<Kind, number>>;

const KINDS = ['rss', 'heapUsed', 'external', 'arrayBuffers'] as const;
type Kind = (typeof KINDS)[number];

export const bench: Bench = {
  about: `memory of \`npm start\` by the minute under mixed load: [--minutes N] (${MINUTES}), [--rate N] requests a second (${RATE})`,
  async run(options) {
    const [minutes, rate] = [numberOf(options, '--minutes', MINUTES), numberOf(options, '--rate', RATE)];
    const folder = mkdtempSync(join(tmpdir(), 'soak-'));
    const preload = pathToFileURL(join(import.meta.dirname, 'soak/thread-memory.ts')).href;
    const service = await startService(['--index'], {
      environment: {
        NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import ${preload}`,
        [folderVariable]: folder,
        [everyVariable]: `${MINUTE_MS}`,
      },
    });
    try {
      const load = await startMixedLoad(service, rate);
      for (let minute = 1; minute <= minutes; minute++) {
        await sleep(MINUTE_MS);
        if (!options.includes('--json')) process.stderr.write(lineOf(minute, minutesOf(folder).at(-1), load.counts()));
      }
      await load.stop();
      return results(minutesOf(folder), load.counts());
    } finally {
      await service.stop();
      rmSync(folder, { recursive: true });
    }
  },
};

function numberOf(options: readonly string[], name: string, otherwise: number): number {
  const at = options.indexOf(name);
  return at === -1 ? otherwise : Number(options[at + 1]);
}

/** Samples of a thread that ended count up to its end. */
function minutesOf(folder: string): Minute[] {
  const samples = readdirSync(folder).flatMap((file) =>
    readFileSync(join(folder, file), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as ThreadSample),
  );
  const main = samples.filter(({ threadId }) => threadId === 0);
  return main.map(({ atMs, rss }) => {
    const newest = new Map<number, ThreadSample>();
    for (const sample of samples) {
      if (sample.atMs <= atMs && sample.atMs > atMs - MINUTE_MS) newest.set(sample.threadId, sample);
    }
    const sum = (kind: Kind): number => [...newest.values()].reduce((total, sample) => total + sample[kind], 0) / MIB;
    return { rss: rss / MIB, heapUsed: sum('heapUsed'), external: sum('external'), arrayBuffers: sum('arrayBuffers') };
  });
}

function lineOf(minute: number, memory: Minute | undefined, { requests, skipped, refused }: LoadCounts): string {
  const figures = memory === undefined ? 'no sample' : KINDS.map((kind) => `${kind} ${memory[kind].toFixed(0)} MiB`);
  return `${minute} min: ${String(figures)}; ${requests} requests, ${skipped} skipped, refused ${JSON.stringify(refused)}\n`;
}

function results(minutes: readonly Minute[], counts: LoadCounts): BenchResult[] {
  const half = minutes.slice(Math.floor(minutes.length / 2));
  const refused = Object.values(counts.refused).reduce((sum, count) => sum + count, 0);
  return [
    ...KINDS.flatMap((kind): BenchResult[] => {
      const series = minutes.map((minute) => minute[kind]);
      const slope = slopeOf(half.map((minute) => minute[kind])) * 60;
      return [
        { name: `${kind} by the minute`, value: series.at(-1) ?? 0, unit: 'MiB', series },
        {
          name: `${kind}, slope of the last ${half.length} min`,
          value: slope,
          unit: 'MiB an hour',
          ...(kind === 'heapUsed' ? {} : { goal: `<= ${SLOPE_GOAL} MiB an hour`, met: slope <= SLOPE_GOAL }),
        },
      ];
    }),
    { name: 'requests', value: counts.requests, unit: 'requests' },
    { name: 'requests without a good answer', value: refused, unit: 'requests' },
  ];
}
