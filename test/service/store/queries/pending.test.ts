import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { findTakenMessages } from '#service/store/queries/pending.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { createRecordedIndex } from '#test/support/recorded-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';

const [COMPLETE, PENDING, BROKEN] = [0, 1, 2];

type Taken = { readonly trace: Buffer; readonly message: Buffer; readonly accounts: readonly Buffer[] };

let index: StoreUnderTest;
let reader: StoreReader;
/** A trace of several transactions, the largest that the chain has. */
let taken: Taken;

async function run(sql: string, values: readonly unknown[] = []): Promise<void> {
  await index.store.transaction(async ({ query }) => void (await query(sql, values)));
}

beforeAll(async () => {
  index = await createRecordedIndex(import.meta.filename);
  reader = { read: (sql, values) => index.store.read(sql, values) };
  const [row] = await reader.read<{ readonly trace_id: Buffer; readonly external_hash: Buffer }>(
    'SELECT trace_id, external_hash FROM traces WHERE external_hash IS NOT NULL ORDER BY nodes DESC LIMIT 1',
    [],
  );
  const accounts = await reader.read<{ readonly account: Buffer }>(
    'SELECT account FROM transactions WHERE trace_id = $1 ORDER BY lt',
    [row!.trace_id],
  );
  taken = { trace: row!.trace_id, message: row!.external_hash, accounts: accounts.map(({ account }) => account) };
});
afterAll(() => index.close());

const sentAt = (key: Buffer, sinceUtime = 0) => ({ key, sinceUtime });
const found = async (sinceUtime = 0) =>
  (await findTakenMessages(reader, [sentAt(taken.message, sinceUtime)])).get(taken.message.toString('hex'));
const become = (state: number): Promise<void> =>
  run('UPDATE traces SET state = $2 WHERE trace_id = $1', [taken.trace, state]);

describe('messages that were taken', () => {
  it('are not those that no transaction took', async () => {
    expect(await findTakenMessages(reader, [])).toEqual(new Map());
    expect([
      ...(
        await findTakenMessages(
          reader,
          [Buffer.alloc(32, 3), taken.message].map((key) => sentAt(key)),
        )
      ).keys(),
    ]).toEqual([taken.message.toString('hex')]);
  });

  it('are known by their normalised hash, however they were spelt', async () => {
    const [one] = await reader.read<{ readonly hash: Buffer; readonly hash_norm: Buffer; readonly utime: number }>(
      `SELECT m.hash, m.hash_norm, t.utime FROM messages m JOIN transactions t ON t.in_msg_hash = m.hash
        WHERE m.hash_norm IS NOT NULL ORDER BY t.lt DESC LIMIT 1`,
      [],
    );
    const { hash, hash_norm: key, utime } = one!;
    expect((await findTakenMessages(reader, [sentAt(key, utime)])).size).toBe(1);
    expect((await findTakenMessages(reader, [sentAt(hash, utime)])).size).toBe(1);
  });

  it('are not those that were taken before they were sent', async () => {
    const [{ utime }] = (await reader.read('SELECT max(utime) AS utime FROM transactions WHERE in_msg_hash = $1', [
      taken.message,
    ])) as [{ utime: number }];
    expect(await found(utime)).toBeDefined();
    expect(await found(utime + 1)).toBeUndefined();
  });

  it('have a whole trace, which is not classified yet', async () => {
    await become(COMPLETE);
    expect(await found()).toEqual({ isClassified: false, accounts: null });
  });

  it('have the transactions so far of a trace that goes on', async () => {
    await become(PENDING);
    expect(taken.accounts.length).toBeGreaterThan(2);
    const { isClassified, accounts } = (await found())!;
    expect(isClassified).toBe(false);
    expect(accounts!.map(String).toSorted()).toEqual(taken.accounts.map(String).toSorted());
  });

  it('have all that there will ever be of a broken trace', async () => {
    await become(BROKEN);
    expect(await found()).toEqual({ isClassified: true, accounts: null });
  });

  it('have a trace that was classified', async () => {
    await become(COMPLETE);
    await run('INSERT INTO trace_classifications (trace_id, state, version) VALUES ($1, 2, 1)', [taken.trace]);
    expect(await found()).toEqual({ isClassified: true, accounts: null });
  });
});
