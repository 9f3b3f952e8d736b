import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readIndexState } from '#service/store/queries/index-state.ts';
import type { Session } from '#service/store/store.ts';
import { createStoreUnderTest, type StoreUnderTest } from '#test/support/store.ts';

let index: StoreUnderTest;
beforeAll(async () => {
  index = await createStoreUnderTest(import.meta.filename);
  await index.store.transaction(({ query }) => query('CREATE TABLE public.counted (at integer)'));
});
afterAll(() => index.close());

const state = (): Promise<string | undefined> => readIndexState(index.store);
const add = ({ query }: Session): Promise<unknown> => query('INSERT INTO public.counted VALUES (1)');

describe('the state of the index', () => {
  it('differs after each commit, also beside transactions that began before and after', async () => {
    const seen = new Set([await state()]);
    for (let at = 0; at < 5; at++) {
      await index.store.transaction(async (older) => {
        await add(older);
        await index.store.transaction(async (newer) => {
          await add(newer);
          await index.store.transaction(add);
          seen.add(await state());
        });
        seen.add(await state());
      });
      seen.add(await state());
    }
    expect(seen.size).toBe(16);
  });
});
