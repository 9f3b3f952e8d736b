import type { Migration } from './migration.ts';

const columns = 'address, seller, collection, index, id, last_trans_lt';

/**
 * Items on sale by seller, in the orders of pages, with the filter columns of items under the same names. Before, a page of a busy seller
 * read and sorted all of its items. The database maintains the table, so that older releases fill it too. Writers wait for each other, so
 * that no writer misses another's row.
 */
export const itemsOnSale: Migration = {
  version: 12,
  name: 'items on sale',
  compatibleFrom: 2,
  statements: [
    `CREATE TABLE nft_items_on_sale (
      address bytea NOT NULL,
      seller bytea NOT NULL,
      collection bytea,
      index numeric NOT NULL,
      id bigint NOT NULL,
      last_trans_lt bigint NOT NULL,
      PRIMARY KEY (address)
    )`,
    // Same as for owners in 0002-meaning.ts.
    'ALTER TABLE nft_items_on_sale ALTER COLUMN seller SET (n_distinct = 100), ALTER COLUMN collection SET (n_distinct = 100)',
    'CREATE INDEX nft_items_on_sale_by_seller ON nft_items_on_sale (seller, collection, index, id)',
    'CREATE INDEX nft_items_on_sale_by_seller_lt ON nft_items_on_sale (seller, last_trans_lt, id)',

    // OLD is null for an inserted row, NEW for a deleted row: no key equals null.
    `CREATE FUNCTION keep_item_on_sale() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM nft_items_on_sale WHERE address = OLD.address;
      INSERT INTO nft_items_on_sale (${columns})
      SELECT NEW.address, s.nft_owner, NEW.collection, NEW.index, NEW.id, NEW.last_trans_lt
      FROM nft_sales s WHERE s.address = NEW.owner AND s.nft = NEW.address AND s.nft_owner IS NOT NULL;
      RETURN NULL;
    END $$`,
    'CREATE TRIGGER item_on_sale AFTER INSERT OR DELETE ON nft_items FOR EACH ROW EXECUTE FUNCTION keep_item_on_sale()',
    `CREATE TRIGGER item_on_sale_changed AFTER UPDATE ON nft_items FOR EACH ROW
     WHEN ((OLD.owner, OLD.collection, OLD.index, OLD.last_trans_lt) IS DISTINCT FROM (NEW.owner, NEW.collection, NEW.index, NEW.last_trans_lt))
     EXECUTE FUNCTION keep_item_on_sale()`,

    // Another sale may hold the item of this sale by now; the item belongs to that sale then.
    `CREATE FUNCTION keep_item_of_sale() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM nft_items_on_sale o USING nft_items t WHERE o.address = OLD.nft AND t.address = OLD.nft AND t.owner = OLD.address;
      INSERT INTO nft_items_on_sale (${columns})
      SELECT t.address, NEW.nft_owner, t.collection, t.index, t.id, t.last_trans_lt
      FROM nft_items t WHERE t.address = NEW.nft AND t.owner = NEW.address AND NEW.nft_owner IS NOT NULL;
      RETURN NULL;
    END $$`,
    'CREATE TRIGGER item_on_sale AFTER INSERT OR DELETE ON nft_sales FOR EACH ROW EXECUTE FUNCTION keep_item_of_sale()',
    `CREATE TRIGGER item_on_sale_changed AFTER UPDATE ON nft_sales FOR EACH ROW
     WHEN ((OLD.nft, OLD.nft_owner) IS DISTINCT FROM (NEW.nft, NEW.nft_owner)) EXECUTE FUNCTION keep_item_of_sale()`,

    `INSERT INTO nft_items_on_sale (${columns})
     SELECT t.address, s.nft_owner, t.collection, t.index, t.id, t.last_trans_lt
     FROM nft_sales s JOIN nft_items t ON t.address = s.nft AND t.owner = s.address WHERE s.nft_owner IS NOT NULL`,
  ],
};
