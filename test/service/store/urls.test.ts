import { describe, expect, it } from 'vitest';

import { createStoreUnderTest } from '#test/support/store.ts';
import { createDatabase } from '#test/support/stores.ts';

const where = 'SELECT current_database() AS name';

describe('the store', () => {
  it('connects elsewhere from one call to the next, and ends calls in progress where they began', async () => {
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

  it('connects a caller that waits for a connection when the addresses change', async () => {
    const tested = await createStoreUnderTest(import.meta.filename);
    const url = new URL(tested.url);
    // The server has no TLS: the store asks for TLS first, then connects without.
    url.searchParams.set('sslmode', 'prefer');
    tested.store.setUrls({ url: url.href });
    const begun = Array.from({ length: 50 }, () => tested.store.read(where));
    tested.store.setUrls({ url: tested.url });
    const name = new URL(tested.url).pathname.slice(1);
    expect(await Promise.all(begun)).toEqual(begun.map(() => [{ name }]));
    await tested.close();
  });
});
