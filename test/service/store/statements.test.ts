import { describe, expect, it } from 'vitest';

import { createStoreUnderTest } from '#test/support/store.ts';

const sql = 'SELECT $1::bigint AS given';
const mode = { statement: 'given' };

describe('a statement with a name', () => {
  it('is planned once for a connection, and answers what it is asked', async () => {
    const tested = await createStoreUnderTest(import.meta.filename, { poolSize: 1 });
    for (const given of [1n, 2n, 3n]) expect(await tested.store.read(sql, [given], mode)).toEqual([{ given }]);
    expect(await tested.store.read(sql, [4n])).toEqual([{ given: 4n }]);
    const kept = 'SELECT name, statement, generic_plans + custom_plans AS calls FROM pg_prepared_statements';
    expect(await tested.store.read(kept)).toEqual([{ name: 'given', statement: sql, calls: 3n }]);
    await tested.close();
  });

  it('keeps the time that it may take', async () => {
    const tested = await createStoreUnderTest(import.meta.filename);
    const slow = { statement: 'slow', timeoutMs: 50 };
    for (let turn = 0; turn < 2; turn++) {
      await expect(tested.store.read('SELECT pg_sleep(20)', [], slow)).rejects.toMatchObject({
        code: 'statement_timeout',
      });
    }
    await tested.close();
  });

  it('is planned anew where tables have changed since', async () => {
    const tested = await createStoreUnderTest(import.meta.filename, { poolSize: 1 });
    await tested.store.transaction(({ query }) => query('CREATE SCHEMA ton CREATE TABLE told (one integer)'));
    const told = (): Promise<object[]> => tested.store.read('SELECT one FROM told', [], { statement: 'told' });
    expect(await told()).toEqual([]);
    await tested.store.transaction(({ query }) => query('ALTER TABLE told ADD COLUMN other integer'));
    await tested.store.transaction(({ query }) => query('INSERT INTO told VALUES (1, 2)'));
    expect(await told()).toEqual([{ one: 1 }]);
    await tested.close();
  });
});
