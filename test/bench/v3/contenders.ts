import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Pool } from 'undici';

import { indexNodeOptions } from '#operator/desired/pod.ts';
import type { Store } from '#service/store/store.ts';
import { servicePath } from '#test/support/programs.ts';
import { projectRoot } from '#test/support/service-flags.ts';
import { startService, type ServiceProcess } from '#test/support/service-process.ts';

/** Version of the service under load. */
export type Contender = { readonly name: 'now' | 'before'; readonly service: ServiceProcess; readonly pool: Pool };

/** Answer of a service without the headers that differ between requests. */
export type Answer = { readonly status: number; readonly next: string; readonly bytes: Buffer };

/** Nanoseconds of CPU. */
export type Spent = { readonly server: number; readonly postgres: number };

export type ContenderOptions = {
  readonly manifest: string;
  /** File with the URI of the Postgres. */
  readonly uri: string;
  /** Folder of another version of the project, with `node_modules`: the baseline. */
  readonly baseline?: string | undefined;
  readonly connections: number;
};

/** Starts this version as in its pod, and the baseline if there is one. Caches are empty. */
export async function startContenders({
  manifest,
  uri,
  baseline,
  connections,
}: ContenderOptions): Promise<readonly Contender[]> {
  const contenders: Contender[] = [];
  const start = async (name: Contender['name'], root: string): Promise<void> => {
    const service = await startService(['api', '--manifest', manifest, '--postgres-file', uri], {
      entry: join(root, servicePath),
      environment: { MALLOC_ARENA_MAX: '1' },
      flags: indexNodeOptions.split(' '),
    });
    contenders.push({ name, service, pool: new Pool(service.url, { connections }) });
  };
  try {
    await start('now', projectRoot);
    if (baseline !== undefined) await start('before', baseline);
    return contenders;
  } catch (error) {
    await stopContenders(contenders);
    throw error;
  }
}

export async function stopContenders(contenders: readonly Contender[]): Promise<void> {
  for (const { pool, service } of contenders) await Promise.all([pool.close(), service.stop()]);
}

/** Order in a round: each version begins as often. The first brings pages of Postgres into memory for the others. */
export function inTurn(contenders: readonly Contender[], round: number): readonly Contender[] {
  return round % 2 === 0 ? contenders : contenders.toReversed();
}

/** Requests the paths of turns `from` to before `to`. @param onFailed called for other statuses than 200; default: throws */
export async function askAll(
  pool: Pool,
  path: (turn: number) => string,
  { from, to }: { readonly from: number; readonly to: number },
  callers: number,
  onFailed: (path: string, answer: Answer) => void = fail,
): Promise<void> {
  let turn = from;
  const call = async (): Promise<void> => {
    while (turn < to) {
      const asked = path(turn++);
      const answer = await ask(pool, asked);
      if (answer.status !== 200) onFailed(asked, answer);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
}

function fail(path: string, { status, bytes }: Answer): never {
  throw new Error(`${path}: status ${status}: ${bytes.toString()}`);
}

export async function ask(pool: Pool, path: string): Promise<Answer> {
  const { statusCode, headers, body } = await pool.request({ path: `/api/v3/${path}`, method: 'GET' });
  const next = String(headers['x-next-cursor'] ?? '');
  return { status: statusCode, next, bytes: Buffer.from(await body.arrayBuffer()) };
}

/** True if status, cursor and each byte are the same from all versions. */
export async function answersEqual(contenders: readonly Contender[], path: string): Promise<boolean> {
  const [first, ...others] = await Promise.all(contenders.map(({ pool }) => ask(pool, path)));
  const { status, next, bytes } = first!;
  return others.every((other) => other.status === status && other.next === next && other.bytes.equals(bytes));
}

/** CPU of the service and of Postgres while `work` runs. */
export async function cpuWhile(service: ServiceProcess, store: Store, work: () => Promise<void>): Promise<Spent> {
  const before = await cpuOfAll(service, store);
  await work();
  return spentSince(before, await cpuOfAll(service, store), service);
}

/** Resident memory of a service in MiB; Linux only. */
export function rssMiB({ pid }: ServiceProcess): number {
  const [, kib] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return Number(kib) / 1024;
}

/** Nanoseconds of CPU by process: of the service and of Postgres. */
async function cpuOfAll({ pid }: ServiceProcess, store: Store): Promise<ReadonlyMap<number, number>> {
  const backends = await store.read<{ pid: number }>('SELECT pid FROM pg_stat_activity');
  return new Map([pid!, ...backends.map((backend) => backend.pid)].map((each) => [each, cpuOf(each)]));
}

/** Counts processes that live at the end: a backend that ended was idle. */
function spentSince(
  before: ReadonlyMap<number, number>,
  after: ReadonlyMap<number, number>,
  { pid }: ServiceProcess,
): Spent {
  const spent = [...after].map(([each, total]) => [each, total - (before.get(each) ?? 0)] as const);
  const sum = (parts: typeof spent): number => parts.reduce((total, [, part]) => total + part, 0);
  return {
    server: sum(spent.filter(([each]) => each === pid)),
    postgres: sum(spent.filter(([each]) => each !== pid)),
  };
}

/** Nanoseconds of CPU of a process's threads; Linux only. A process that ended counts as 0. */
function cpuOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]))
      .reduce((sum, each) => sum + each, 0);
  } catch {
    return 0;
  }
}
