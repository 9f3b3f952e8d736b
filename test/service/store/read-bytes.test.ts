import { expect, it } from 'vitest';

import { createStoreUnderTest } from '#test/support/store.ts';

/** Rows of 100,000 bytes. */
const sql = `SELECT decode(repeat('ab', 100000), 'hex') AS bytes, n FROM generate_series(1, $1::integer) AS n`;

it('a read whose rows have more bytes than it may have fails, and its connection serves the next', async () => {
  const tested = await createStoreUnderTest(import.meta.filename, { poolSize: 1 });
  const { store } = tested;
  const mode = { bytesMax: 1_000_000 };
  expect(await store.read(sql, [10], mode)).toHaveLength(10);
  await expect(store.read(sql, [11], mode)).rejects.toMatchObject({ code: 'rows_too_large' });
  await expect(store.read(sql, [2000], { ...mode, statement: 'many' })).rejects.toMatchObject({
    code: 'rows_too_large',
  });
  const [row] = await store.read<{ bytes: Buffer }>(sql, [1], { ...mode, statement: 'many' });
  expect(row!.bytes.equals(Buffer.alloc(100_000, 0xab))).toBe(true);
  expect(await store.read(sql, [20])).toHaveLength(20);
  await tested.close();
});
