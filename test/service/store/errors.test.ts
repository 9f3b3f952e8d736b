import { describe, expect, it } from 'vitest';

import { failureOf } from '#service/http/error-status.ts';
import { isUnfit, StoreError, storeErrorCodeOf, type StoreErrorCode } from '#service/store/errors.ts';
import { createStoreUnderTest } from '#test/support/store.ts';

/** SQLSTATE by class, what it stands for, and the status that v3 answers with. */
const states: readonly (readonly [state: string, what: string, code: StoreErrorCode, status: number])[] = [
  ['08000', 'a connection exception', 'store_unavailable', 503],
  ['08006', 'a connection that broke', 'store_unavailable', 503],
  ['0A000', 'a feature that is not supported', 'query_failed', 500],
  ['22003', 'a value out of range', 'query_failed', 500],
  ['23503', 'a foreign key', 'query_failed', 500],
  ['23505', 'a row that another writer wrote', 'write_conflict', 503],
  ['25006', 'a server that only reads', 'store_unavailable', 503],
  ['25P02', 'a transaction that failed before', 'query_failed', 500],
  ['25P03', 'an idle transaction that was ended', 'store_unavailable', 503],
  ['25P04', 'a transaction that took too long', 'store_unavailable', 503],
  ['26000', 'a prepared statement that is lost', 'store_unavailable', 503],
  ['28000', 'a role that may not log in', 'store_refused', 503],
  ['28P01', 'a wrong password', 'store_refused', 503],
  ['3D000', 'a database that is not there', 'store_refused', 503],
  ['3F000', 'a schema that is not there', 'schema_missing', 503],
  ['40001', 'a serialization failure, or a conflict with recovery on a standby', 'write_conflict', 503],
  ['40P01', 'a deadlock', 'write_conflict', 503],
  ['42501', 'a missing privilege', 'store_refused', 503],
  ['42601', 'a mistake in a statement', 'query_failed', 500],
  ['42703', 'a column that is not there', 'schema_missing', 503],
  ['42P01', 'a table that is not there', 'schema_missing', 503],
  ['53000', 'insufficient resources', 'store_unavailable', 503],
  ['53100', 'a full disk', 'store_unavailable', 503],
  ['53200', 'no memory', 'store_unavailable', 503],
  ['53300', 'too many connections', 'store_unavailable', 503],
  ['53400', 'a configured limit', 'store_unavailable', 503],
  ['54001', 'a statement too complex', 'query_failed', 500],
  ['55006', 'an object in use', 'store_unavailable', 503],
  ['55P03', 'a lock that was not free in time', 'store_unavailable', 503],
  ['57014', 'a statement timeout', 'statement_timeout', 504],
  ['57P01', 'a shutdown', 'store_unavailable', 503],
  ['57P02', 'a crash', 'store_unavailable', 503],
  ['57P03', 'a server that starts', 'store_unavailable', 503],
  ['57P05', 'an idle session that was ended', 'store_unavailable', 503],
  ['58000', 'a system error', 'store_unavailable', 503],
  ['58030', 'an input or output error', 'store_unavailable', 503],
  ['72000', 'a snapshot too old', 'store_unavailable', 503],
  ['XX000', 'an internal error', 'query_failed', 500],
  ['XX001', 'corrupted data', 'query_failed', 500],
];

const missing: ReadonlySet<string> = new Set(['3F000', '42703', '42P01']);

describe('an error of Postgres', () => {
  it.each(states)('%s, %s, is %s and makes v3 answer %i', (state, _what, code, status) => {
    expect(storeErrorCodeOf(state)).toBe(code);
    expect(failureOf(new StoreError(code, 'said', { cause: state })).status).toBe(status);
  });

  it.each(states)('%s, %s, says that tables do not fit only where a part of them is not there', (state) => {
    const error = new StoreError(storeErrorCodeOf(state), 'said', { cause: state });
    expect(isUnfit(error)).toBe(missing.has(state));
  });

  it('of this service says that tables do not fit where their version or network differs', () => {
    const codes: readonly StoreErrorCode[] = ['schema_missing', 'schema_older', 'schema_newer', 'other_network'];
    for (const code of codes) {
      const error = new StoreError(code, 'said');
      expect([code, isUnfit(error), failureOf(error).status]).toEqual([code, true, 503]);
    }
    expect(isUnfit(new Error('anything else'))).toBe(false);
  });

  it('leaves the connection in use unless the connection itself is spent', async () => {
    const tested = await createStoreUnderTest(import.meta.filename, { poolSize: 1 });
    const pid = async () => (await tested.store.read<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]!.pid;
    const raise = (state: string) =>
      tested.store.read(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${state}'; END $$`);
    const first = await pid();
    for (const state of ['53100', '55P03', '58030']) {
      await expect(raise(state)).rejects.toMatchObject({ code: 'store_unavailable', data: { cause: state } });
      expect(await pid()).toBe(first);
    }
    for (const state of ['25006', '57P01']) {
      const before = await pid();
      await expect(raise(state)).rejects.toMatchObject({ code: 'store_unavailable' });
      expect(await pid()).not.toBe(before);
    }
    await tested.close();
  });
});
