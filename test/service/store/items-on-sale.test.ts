import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { NftItemRow, NftSaleRow } from '#service/store/classification-tables.ts';
import { writeClassification, type ContractRows, type Classification } from '#service/store/classification-writer.ts';
import { itemsOnSale } from '#service/store/migrations/0012-items-on-sale.ts';
import { createDraw, oneOf } from '#test/support/draw.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { itemRow, keyOf, saleRow } from '#test/support/token-rows.ts';

let made: StoreUnderTest;

beforeAll(async () => {
  made = await createMigratedStore(import.meta.filename);
});
afterAll(() => made.close());

const change = (sql: string, values: readonly unknown[] = []): Promise<unknown> =>
  made.store.transaction(({ query }) => query(sql, values));

/** As the interpreter writes what it was told of blocks. */
function write(contracts: readonly ContractRows[]): Promise<void> {
  const claimed = {
    seqnos: [1],
    fresh: new Set([1]),
    finish: async () => {},
    heartbeat: async () => {},
    release: async () => {},
  };
  const transfers = { looked: [], refused: [], jettonTransfers: [], jettonBurns: [], nftTransfers: [] };
  const nothing: Classification = {
    contracts: [],
    edited: [],
    facts: [],
    ...transfers,
    traces: [],
    actions: [],
    actionAccounts: [],
  };
  return writeClassification(made.store, claimed, { ...nothing, contracts });
}

const columns = 'address, seller, collection, index, id, last_trans_lt';
const listed = (): Promise<object[]> => made.store.read(`SELECT ${columns} FROM nft_items_on_sale ORDER BY address`);
/** What the list must be. */
const joined = (): Promise<object[]> =>
  made.store.read(
    `SELECT t.address, s.nft_owner AS seller, t.collection, t.index, t.id, t.last_trans_lt FROM nft_items t
     JOIN nft_sales s ON s.address = t.owner AND s.nft = t.address WHERE s.nft_owner IS NOT NULL ORDER BY t.address`,
  );

describe('items on sale', () => {
  const draw = createDraw(12);
  const count = 4;
  /** Often the same number, so that items and sales meet. */
  const near = (at: number): number => (draw(2) === 0 ? at : draw(count));
  const orNull = <T>(value: T): T | null => (draw(8) === 0 ? null : value);
  const nftItem = (at = draw(count)): NftItemRow =>
    itemRow(at, {
      owner: orNull(keyOf('sale', near(at))),
      collection: orNull(keyOf('collection', draw(2))),
      index: BigInt(draw(2)),
      // The same lt is written again; a lower one is not.
      last_trans_lt: BigInt(draw(3)),
    });
  const nftSale = (at = draw(count)): NftSaleRow =>
    saleRow(at, {
      nft: orNull(keyOf('item', near(at))),
      nft_owner: orNull(keyOf('owner', draw(2))),
      last_trans_lt: BigInt(draw(3)),
    });
  const several = <T>(make: () => T): T[] => Array.from({ length: 1 + draw(2) }, make);

  it('are those that a sale with a seller holds, whatever is written or taken away', async () => {
    const steps = [
      ...Array.from({ length: 6 }, () => () => write(several(() => ({ nftItem: nftItem() })))),
      ...Array.from({ length: 6 }, () => () => write(several(() => ({ nftSale: nftSale() })))),
      () => write([{ nftItem: nftItem() }, { nftSale: nftSale() }, { nftItem: nftItem() }, { nftSale: nftSale() }]),
      () => change('DELETE FROM nft_items WHERE address = $1', [keyOf('item', draw(count))]),
      () => change('DELETE FROM nft_sales WHERE address = $1', [keyOf('sale', draw(count))]),
      // Else nothing older than what is there would ever be written.
      () => change('UPDATE nft_items SET last_trans_lt = 0'),
      () => change('UPDATE nft_sales SET last_trans_lt = 0'),
    ];
    const seen = new Set<string>();
    for (let step = 0; step < 1500; step++) {
      await oneOf(draw, steps)();
      const rows = await listed();
      expect(rows, `step ${step}`).toEqual(await joined());
      seen.add(rows.map((row) => Object.values(row).join()).join());
    }
    expect(seen.size).toBeGreaterThan(200);
  });

  it('stay as they are written where nothing of them changes', async () => {
    const nft = itemRow(90, { owner: keyOf('sale', 90) });
    const sale = saleRow(90);
    await write([{ nftItem: nft }, { nftSale: sale }]);
    const versions = (): Promise<object[]> =>
      made.store.read('SELECT xmin::text FROM nft_items_on_sale WHERE address = $1', [nft.address]);
    const before = await versions();
    expect(before).toHaveLength(1);
    await write([{ nftItem: { ...nft, content: {} } }]);
    await write([{ nftSale: { ...sale, details: {}, last_trans_lt: sale.last_trans_lt + 1n } }]);
    expect(await versions()).toEqual(before);
    await write([{ nftItem: { ...nft, last_trans_lt: nft.last_trans_lt + 1n } }]);
    expect(await versions()).not.toEqual(before);
  });

  it('are listed with all that is there when the list begins to be kept', async () => {
    // One has no seller, one names another item than it holds, one holds nothing of what it names.
    const some = Array.from({ length: 9 }, (_, at) => at);
    const soldItems = some.map((at) =>
      itemRow(at, { owner: keyOf(at === 7 ? 'owner' : 'sale', at), last_trans_lt: 9n }),
    );
    const theirs = some.map((at) =>
      saleRow(at, {
        nft: keyOf('item', at === 5 ? 6 : at),
        nft_owner: at === 4 ? null : keyOf('owner', 1),
        last_trans_lt: 9n,
      }),
    );
    await write([...soldItems.map((row) => ({ nftItem: row })), ...theirs.map((row) => ({ nftSale: row }))]);
    await made.store.transaction(async ({ query }) => {
      await query('TRUNCATE nft_items_on_sale');
      await query(itemsOnSale.statements.at(-1)!);
    });
    expect((await listed()).length).toBeGreaterThanOrEqual(6);
    expect(await listed()).toEqual(await joined());
  });
});
