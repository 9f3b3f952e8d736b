import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createStoreUnderTest, openStore, type StoreUnderTest } from '#test/support/store.ts';

let made: StoreUnderTest;
beforeAll(async () => {
  made = await createStoreUnderTest(import.meta.filename);
});
afterAll(() => made.close());

test('a lost connection is logged with its cause, and with nothing that was asked over it', async () => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const store = openStore({ url: made.url }, logger);
  const mode = { statement: 'of_a_caller' };
  const [row] = await store.read<{ pid: number }>('SELECT pg_backend_pid() AS pid, $1::text', ['asked'], mode);
  await made.store.read('SELECT pg_terminate_backend($1)', [row!.pid]);
  await expect.poll(() => lines.length).toBe(1);
  expect(JSON.parse(lines[0]!)).toMatchObject({ msg: 'connection to Postgres lost', err: { code: '57P01' } });
  expect(lines[0]).not.toMatch(/of_a_caller|asked|pg_backend_pid/);
  expect(await store.read('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await store.close();
});

test('connections of a store that is closed are not logged as lost when their server ends them first', async () => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const idle = { connections: 4, rounds: 20 };
  for (let round = 0; round < idle.rounds; round++) {
    const store = openStore({ url: made.url, poolSize: idle.connections }, logger);
    const reads = Array.from({ length: idle.connections }, () =>
      store.read<{ pid: number }>('SELECT pg_backend_pid() AS pid, pg_sleep(0.01)'),
    );
    const pids = (await Promise.all(reads)).map(([row]) => row!.pid);
    await Promise.all([
      store.close(),
      made.store.read('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) pid', [pids]),
    ]);
  }
  expect(lines).toEqual([]);
});
