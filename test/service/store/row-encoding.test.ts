import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  address,
  addresses,
  amount,
  bool,
  bytes,
  defineTable,
  extraCurrencies,
  hash,
  int,
  ints,
  json,
  lt,
  nullable,
  shardId,
  small,
  text,
  texts,
  type Row,
} from '#service/store/columns.ts';
import { createInserts, insertFrom } from '#service/store/insert.ts';
import { encodeCopy } from '#service/store/row-encoding.ts';
import type { Session } from '#service/store/store.ts';
import { anyText } from '#test/support/any-text.ts';
import { createStoreUnderTest, type StoreUnderTest } from '#test/support/store.ts';

/** Every kind of column, with null and without. */
const kinds = {
  hash,
  address,
  bytes,
  lt,
  shard: shardId,
  amount,
  int,
  small,
  bool,
  text,
  ints,
  currencies: extraCurrencies,
  addresses,
  texts,
};

const everything = defineTable('everything', ['place'], {
  place: int,
  ...kinds,
  null_hash: nullable(hash),
  null_lt: nullable(lt),
  null_amount: nullable(amount),
  null_int: nullable(int),
  null_bool: nullable(bool),
  null_text: nullable(text),
  null_ints: nullable(ints),
  null_currencies: nullable(extraCurrencies),
  null_addresses: nullable(addresses),
  null_texts: nullable(texts),
});

type EverythingRow = Row<typeof everything>;

const anyBytes = (size?: number) =>
  fc
    .uint8Array(size === undefined ? { maxLength: 4000 } : { minLength: size, maxLength: size })
    .map((value) => Buffer.from(value));
const any64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const anyLt = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
/** Amounts of all lengths, round ones and negative ones too. */
const anyAmount = fc.oneof(
  fc.bigInt({ min: -(2n ** 120n), max: 2n ** 120n }),
  fc.bigInt({ min: 0n, max: 20_000n }),
  fc
    .tuple(fc.bigInt({ min: -9999n, max: 9999n }), fc.nat({ max: 36 }))
    .map(([digits, power]) => digits * 10n ** BigInt(power)),
);
const anyInt = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
// Postgres keeps no zero character in text.
const storedText = anyText().map((value) => value.replaceAll('\0', ''));
const anyInts = fc.array(anyInt, { maxLength: 20 });
const anyCurrencies = fc.dictionary(fc.nat().map(String), fc.bigInt({ min: 0n, max: 2n ** 120n }).map(String));
const anyAddresses = fc.array(anyBytes(33), { maxLength: 5 });
const anyTexts = fc.array(storedText, { maxLength: 5 });
const orNull = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { nil: null });

const anyRow: fc.Arbitrary<EverythingRow> = fc.record({
  place: fc.constant(0),
  hash: anyBytes(32),
  address: anyBytes(33),
  bytes: anyBytes(),
  lt: anyLt,
  shard: any64,
  amount: anyAmount,
  int: anyInt,
  small: fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 }),
  bool: fc.boolean(),
  text: storedText,
  ints: anyInts,
  currencies: anyCurrencies,
  addresses: anyAddresses,
  texts: anyTexts,
  null_hash: orNull(anyBytes(32)),
  null_lt: orNull(anyLt),
  null_amount: orNull(anyAmount),
  null_int: orNull(anyInt),
  null_bool: orNull(fc.boolean()),
  null_text: orNull(storedText),
  null_ints: orNull(anyInts),
  null_currencies: orNull(anyCurrencies),
  null_addresses: orNull(anyAddresses),
  null_texts: orNull(anyTexts),
});

describe('rows on their way to Postgres', () => {
  let tested: StoreUnderTest;

  beforeAll(async () => {
    tested = await createStoreUnderTest(import.meta.filename, { schema: 'public' });
    const columns = Object.entries(everything.columns).map(([name, { sql }]) => `${name} ${sql}`);
    await tested.store.transaction(({ query }) => query(`CREATE TABLE everything (${columns.join(', ')})`));
  });

  afterAll(() => tested.close());

  it.each(['copy', 'unnest'] as const)('arrive by %s as they were, of every kind of column', async (carriage) => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { maxLength: 40 }), async (drawn) => {
        const rows = drawn.map((row, place) => ({ ...row, place }));
        const [added, given] = await tested.store.transaction(async (session) => {
          const inserts = createInserts(session, carriage);
          const names = Object.keys(everything.columns).join(', ');
          await session.query('TRUNCATE everything');
          await inserts.add(everything, rows);
          const stored = await session.query(`SELECT ${names} FROM everything ORDER BY place`);
          const told = await inserts.run(
            everything,
            rows,
            (relation) => `${insertFrom(everything, relation)} RETURNING ${names}`,
          );
          return [stored, told];
        });
        expect(added).toEqual(rows);
        expect(given).toEqual(rows);
      }),
      { numRuns: 40, seed: 9 },
    );
  });

  it.each(['copy', 'unnest'] as const)('arrive by %s without what Postgres refuses in text', async (carriage) => {
    const said = defineTable('said', ['place'], { place: int, text, json });
    const halves = ['\ud800', 'a\udfff', '\udc00\ud83d'];
    const rows = ['a\0b', '\\u0000', 'c\\\0', ...halves].map((one, place) => ({
      place,
      text: one,
      json: { in: [one], whole: '\ud83d\ude00' },
    }));
    const stored = await tested.store.transaction(async (session) => {
      await session.query('CREATE TEMPORARY TABLE said (place integer, text text, json jsonb) ON COMMIT DROP');
      await createInserts(session, carriage).add(said, rows);
      return session.query('SELECT text, json FROM said ORDER BY place');
    });
    const expected = ['ab', '\\u0000', 'c\\', '\ufffd', 'a\ufffd', '\ufffd\ufffd'];
    expect(stored).toEqual(expected.map((one) => ({ text: one, json: { in: [one], whole: '\ud83d\ude00' } })));
  });

  it.each(['copy', 'unnest'] as const)('arrive by %s under keys without what Postgres refuses', async (carriage) => {
    const said = defineTable('said', ['place'], { place: int, texts, json });
    const rows = [{ place: 0, texts: ['a\0b', '\0'], json: { 'a\0b': { ['c\ud800']: [{ '\0': null }] } } }];
    const [stored] = await tested.store.transaction(async (session) => {
      await session.query('CREATE TEMPORARY TABLE said (place integer, texts text[], json jsonb) ON COMMIT DROP');
      await createInserts(session, carriage).add(said, rows);
      return session.query('SELECT texts, json FROM said');
    });
    expect(stored).toEqual({ texts: ['ab', ''], json: { ab: { ['c\ufffd']: [{ '': null }] } } });
  });

  it('never make a message to Postgres larger than it takes', async () => {
    const large = defineTable('large', ['place'], { place: int, bytes });
    const value = Buffer.alloc(9 * 1024 * 1024, 7);
    const rows = Array.from({ length: 8 }, (_, place) => ({ place, bytes: value }));
    const sizes: number[] = [];
    const stored = await tested.store.transaction(async (session) => {
      const query: Session['query'] = (sql, values = []) => {
        sizes.push((values as readonly Buffer[]).reduce((sum, { length }) => sum + length, 0));
        return session.query(sql, values);
      };
      await query('CREATE TEMPORARY TABLE large (place integer, bytes bytea) ON COMMIT DROP');
      await createInserts({ ...session, query }, 'unnest').add(large, rows);
      return query('SELECT count(*)::int AS rows, sum(length(bytes))::int AS bytes FROM large');
    });
    expect(stored).toEqual([{ rows: 8, bytes: 8 * value.length }]);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(64 * 1024 * 1024);
  });

  it('leave in pieces that together are one copy', () => {
    const [row] = fc.sample(anyRow, { numRuns: 1, seed: 3 });
    const rows = Array.from({ length: 3000 }, (_, place) => ({ ...(row as EverythingRow), place }));
    const pieces = [...encodeCopy(everything, rows)];
    expect(pieces.length).toBeGreaterThan(1);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(300 * 1024);
    expect(Buffer.concat(pieces.slice(0, 1)).subarray(0, 11)).toEqual(Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'));
  });

  it('are refused when a column that has no nulls gets one', () => {
    const [row] = fc.sample(anyRow, { numRuns: 1, seed: 3 });
    const broken = { ...(row as EverythingRow), lt: null } as unknown as EverythingRow;
    expect(() => [...encodeCopy(everything, [broken])]).toThrow(TypeError);
  });
});
