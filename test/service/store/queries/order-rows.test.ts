import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createConditions } from '#service/store/queries/conditions.ts';
import { addAfter, orderBy, orderFor, positionOf, type Order, type OrderKey } from '#service/store/queries/order.ts';
import { createStoreUnderTest, type StoreUnderTest } from '#test/support/store.ts';

let index: StoreUnderTest;

beforeAll(async () => {
  index = await createStoreUnderTest(import.meta.filename);
  await index.store.read('SELECT 1', []);
});
afterAll(() => index.close());

/** Seconds before and after 2038 as their signed views, and no time. */
const times = [-5, 3, 7, null];
const groups = [1n, 2n, null];
const rows = times.flatMap((at) => groups.flatMap((key) => [0, 1].map((id) => ({ at, key, id }))));
type Row = (typeof rows)[number];

const table = `(VALUES ${rows.map(({ at, key, id }) => `(${at ?? 'NULL'}::integer, ${key ?? 'NULL'}::bigint, ${id}::integer)`).join(', ')}) AS t("at", "key", id)`;

const at = (sort: 'asc' | 'desc'): OrderKey => ({ column: 'at', type: 'utime', sort, nullable: true });
const key = (sort: 'asc' | 'desc'): OrderKey => ({ column: 'key', type: 'bigint', sort, nullable: true });
const id = (sort: 'asc' | 'desc'): OrderKey => ({ column: 'id', type: 'integer', sort });

const orders: readonly (readonly [string, Order])[] = [
  ['nullable columns upwards', [at('asc'), key('asc'), id('asc')]],
  ['nullable columns downwards', [at('desc'), key('desc'), id('desc')]],
  ['columns of both directions', [key('asc'), at('desc'), id('asc')]],
  ['a column without null first', [id('desc'), at('asc'), key('desc')]],
  ['a column without null first, upwards', [id('asc'), key('desc'), at('asc')]],
];

/** Rows without null, for orders whose columns have none. */
const whole = rows.filter((row) => row.at !== null && row.key !== null);
const plain: Order = [
  { column: 'at', type: 'utime', sort: 'desc' },
  { column: 'key', type: 'bigint', sort: 'desc' },
  { column: 'id', type: 'integer', sort: 'desc' },
];
const mixed: Order = [plain[0]!, { ...plain[1]!, sort: 'asc' }, plain[2]!];

/** Compares as Postgres does: null is greater than every value. */
function sorted(order: Order, passes2038: boolean, given: readonly Row[] = rows): readonly Row[] {
  const valueOf = (row: Row, { column, type }: OrderKey): number => {
    const value = row[column as keyof Row];
    if (value === null) return Infinity;
    return type === 'utime' && passes2038 && Number(value) < 0 ? Number(value) + 2 ** 32 : Number(value);
  };
  return given.toSorted((one, other) => {
    for (const column of order) {
      const difference = valueOf(one, column) - valueOf(other, column);
      if (difference !== 0 && !Number.isNaN(difference)) return column.sort === 'asc' ? difference : -difference;
    }
    return 0;
  });
}

async function read(order: Order, after: Row | undefined, where = 'true'): Promise<readonly unknown[]> {
  const conditions = createConditions();
  conditions.and(where);
  addAfter(conditions, order, 't', after && positionOf(order, after));
  const sql = `SELECT "at", "key", id FROM ${table} ${conditions.where()} ${orderBy(order, 't')}`;
  return index.store.read(sql, conditions.values);
}

describe('rows in an order, of columns with and without null, before and after 2038', () => {
  it.each([false, true].flatMap((passes2038) => orders.map(([what, order]) => [what, passes2038, order] as const)))(
    'each row is followed by the rows behind it: %s, past 2038 %j',
    async (_what, passes2038, given) => {
      const order = orderFor(given, { passes2038 });
      const expected = sorted(given, passes2038);
      expect(await read(order, undefined)).toEqual(expected);
      for (const [place, row] of expected.entries()) expect(await read(order, row)).toEqual(expected.slice(place + 1));
    },
  );

  it.each([
    ['one direction', plain],
    ['both directions', mixed],
  ])('rows of columns without null follow each row: %s', async (_what, given) => {
    const expected = sorted(given, true, whole);
    const order = orderFor(given, { passes2038: true });
    const where = '"at" IS NOT NULL AND "key" IS NOT NULL';
    for (const [place, row] of expected.entries()) {
      expect(await read(order, row, where)).toEqual(expected.slice(place + 1));
    }
  });

  it('a column of another table is compared by its own expression', () => {
    const conditions = createConditions();
    addAfter(conditions, [key('asc')], 't', [2n], { key: 'other.key' });
    expect(conditions.where()).toBe('WHERE (((other.key > $1::bigint OR other.key IS NULL)))');
  });
});
