import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createStoreUnderTest, type StoreUnderTest } from '#test/support/store.ts';

let made: StoreUnderTest;
beforeAll(async () => {
  made = await createStoreUnderTest(import.meta.filename);
});
afterAll(() => made.close());

const read = async (expression: string, values: readonly unknown[] = []): Promise<unknown> =>
  (await made.store.read<{ list: unknown }>(`SELECT ${expression} AS list`, values))[0]!.list;

describe('an array of bytes', () => {
  it('is read as it was written', async () => {
    const bytes = fc.uint8Array({ maxLength: 40 }).map((one) => Buffer.from(one));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(bytes)), async (list) => {
        expect(await read('$1::bytea[]', [list])).toEqual(list);
      }),
      { seed: 5, numRuns: 60 },
    );
  });

  it.each([
    ['in more dimensions than one', `ARRAY[ARRAY['\\x01'::bytea], ARRAY['\\x02'::bytea]]`, [['01'], ['02']]],
    ['with bounds of its own', `'[0:1]={"\\\\x01","\\\\x02"}'::bytea[]`, ['01', '02']],
  ])('may be %s', async (_case, expression, wanted) => {
    const hex = (one: unknown): unknown => (Buffer.isBuffer(one) ? one.toString('hex') : (one as unknown[]).map(hex));
    expect(hex(await read(expression))).toEqual(wanted);
  });

  it('is read from a server that writes no hexadecimal', async () => {
    const list = await made.store.transaction(async ({ query }) => {
      await query(`SET LOCAL bytea_output = 'escape'`);
      return query<{ list: unknown }>(`SELECT ARRAY['\\x00ff'::bytea, 'a,b'::bytea, NULL, ''::bytea] AS list`);
    });
    expect(list[0]!.list).toEqual([Buffer.from([0, 255]), Buffer.from('a,b'), null, Buffer.alloc(0)]);
  });
});
