import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Store } from '#service/store/store.ts';
import type { BenchResult } from '../bench.ts';
import { askAll, cpuWhile, inTurn, rssMiB, type Contender } from './contenders.ts';
import type { Requests } from './requests.ts';

/** Requests of a kind through the listener. */
export type Kind = {
  readonly name: string;
  /** The path behind `/api/v3/` of a turn: other objects each time. */
  readonly path: (turn: number) => string;
};

/** Shares of kinds by their names. */
export type Mix = Readonly<Record<string, number>>;

/** @param name of the requests; its first word is the operation */
export function kindOf({ name, query }: Requests): Kind {
  return { name, path: (turn) => `${name.split(' ')[0]!}?${query(turn)}` };
}

/** Reads `mixes/NAME.json`. The name `all` stands for equal shares of all kinds. */
export function readMix(name: string): Mix | undefined {
  if (name === 'all') return undefined;
  const file = join(import.meta.dirname, '../mixes', `${name}.json`);
  return JSON.parse(readFileSync(file, 'utf8')) as Mix;
}

/**
 * Draws the path of each turn by the shares. The draws are the same in each run.
 *
 * @param mix absent: all kinds equally often
 * @throws Error a name is no kind
 */
export function pathOfMix(mix: Mix | undefined, kinds: readonly Kind[]): (turn: number) => string {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  const shares = Object.entries(mix ?? Object.fromEntries(kinds.map(({ name }) => [name, 1])));
  const unknown = shares.map(([name]) => name).filter((name) => !byName.has(name));
  if (unknown.length > 0) throw new Error(`no kinds of requests: ${unknown.join(', ')}`);
  const total = shares.reduce((sum, [, share]) => sum + share, 0);
  return (turn) => {
    let left = (createHash('sha256').update(`mix ${turn}`).digest().readUInt32BE() / 2 ** 32) * total;
    const [name] = shares.find(([, share]) => (left -= share) < 0) ?? shares.at(-1)!;
    return byName.get(name)!.path(turn);
  };
}

const CALLERS = 16;

/** Requests in a round, to each server: the servers take turns. */
const REQUESTS = 500;

/** Rounds with empty caches. */
const COLD_ROUNDS = 1;

const MINUTE_MS = 60_000;

type Course = {
  /** Nanoseconds of CPU of the server and of Postgres. */
  cold: number;
  warm: number;
  /** Answers with another status than 200, such as queries above their time on a busy machine. */
  failed: number;
  /** MiB at the start and after each minute. */
  readonly memory: number[];
};

/** Requests a CPU second of the server and Postgres for a mix, with empty caches and after that, and memory by the minute. */
export async function measureMix(
  store: Store,
  contenders: readonly Contender[],
  { mix, path, minutes }: { readonly mix: string; readonly path: (turn: number) => string; readonly minutes: number },
): Promise<BenchResult[]> {
  const courses = new Map(
    contenders.map(({ name, service }): [string, Course] => {
      return [name, { cold: 0, warm: 0, failed: 0, memory: [rssMiB(service)] }];
    }),
  );
  const began = performance.now();
  let rounds = 0;
  for (let minute = 1; minute <= minutes;) {
    for (const { name, service, pool } of inTurn(contenders, rounds)) {
      const turns = { from: rounds * REQUESTS, to: (rounds + 1) * REQUESTS };
      const course = courses.get(name)!;
      const asking = (): Promise<void> => askAll(pool, path, turns, CALLERS, () => void course.failed++);
      const { server, postgres } = await cpuWhile(service, store, asking);
      course[rounds < COLD_ROUNDS ? 'cold' : 'warm'] += server + postgres;
    }
    rounds++;
    if (rounds <= COLD_ROUNDS || performance.now() - began < minute * MINUTE_MS) continue;
    for (const { name, service } of contenders) courses.get(name)!.memory.push(rssMiB(service));
    const texts = [...courses].map(([name, { memory }]) => `${name} ${memory.at(-1)!.toFixed(0)} MiB`);
    process.stderr.write(`${mix}, ${minute} min, ${rounds * REQUESTS} requests each: ${texts.join(', ')}\n`);
    minute++;
  }
  return resultsOf(mix, courses, rounds);
}

function resultsOf(mix: string, courses: ReadonlyMap<string, Course>, rounds: number): BenchResult[] {
  const [now, before] = [courses.get('now')!, courses.get('before')];
  const rates: readonly (readonly [title: string, rateOf: (course: Course) => number])[] = [
    ['empty caches', ({ cold }) => (COLD_ROUNDS * REQUESTS * 1e9) / cold],
    ['warm', ({ warm }) => ((rounds - COLD_ROUNDS) * REQUESTS * 1e9) / warm],
  ];
  return [
    ...rates.map(([title, of]): BenchResult => ({
      name: `${mix}, ${title}`,
      value: of(now),
      unit: 'requests a CPU second',
      ...(before && { baseline: { name: 'before', value: of(before) }, ratio: of(now) / of(before) }),
    })),
    {
      name: `${mix}, failed answers of ${rounds * REQUESTS}`,
      value: now.failed,
      unit: 'answers',
      ...(before && { baseline: { name: 'before', value: before.failed } }),
    },
    ...[...courses].map(([name, { memory }]): BenchResult => ({
      name: `${mix}, memory by the minute, ${name}`,
      value: memory.at(-1)!,
      unit: 'MiB',
      series: memory,
      ...(name === 'now' && { goal: '<= 450 MiB', met: memory.at(-1)! <= 450 }),
    })),
  ];
}
