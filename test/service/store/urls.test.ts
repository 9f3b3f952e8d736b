import { describe, expect, it } from 'vitest';

import { createStoreUnderTest } from '#test/support/store.ts';
import { createDatabase } from '#test/support/stores.ts';

const where = 'SELECT current_database() AS name';

describe('the store', () => {
  it('connects elsewhere from one call to the next, and ends calls under way where they began', async () => {
    const [tested, other] = [
      await createStoreUnderTest(import.meta.filename),
      await createDatabase(import.meta.filename),
    ];
    const first = new URL(tested.url).pathname.slice(1);
    const second = new URL(other.url).pathname.slice(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    const underWay = tested.store.transaction(async ({ query }) => {
      await promise;
      return query(where);
    });
    expect(await tested.store.read(where)).toEqual([{ name: first }]);
    tested.store.setUrls({ url: other.url });
    expect(await tested.store.read(where)).toEqual([{ name: second }]);
    expect(await tested.store.transaction(({ query }) => query(where))).toEqual([{ name: second }]);
    resolve();
    expect(await underWay).toEqual([{ name: first }]);
    const alone = await tested.store.connect();
    expect((await alone.query(where)).rows).toEqual([{ name: second }]);
    await alone.end();
    await tested.close();
    await other.close();
  });
});
