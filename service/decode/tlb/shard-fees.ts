import type { BitWriter } from '../bit-writer.ts';
import type { CellSlice } from '../cell-slice.ts';
import type { CellStore } from '../cell-store.ts';
import type { CellTable } from '../cell-table.ts';
import { openExtra, updateHashmap } from '../hashmap-writer.ts';
import type { Augmentation } from '../hashmap-writer.ts';
import { walkHashmap } from '../hashmap.ts';
import {
  NO_CURRENCIES,
  addCurrencies,
  readCurrencyCollection,
  writeCurrencyCollection,
} from './currency-collection.ts';
import type { CurrencyCollection } from './currency-collection.ts';
import type { ShardIdent } from './shard-ident.ts';

/** Fees that the masterchain receives from shards' new blocks. `create` is the part that those blocks created. */
export type ShardFees = { readonly fees: CurrencyCollection; readonly create: CurrencyCollection };

/** `_ fees:CurrencyCollection create:CurrencyCollection = ShardFeeCreated`. */
function readShardFees(slice: CellSlice): ShardFees {
  return { fees: readCurrencyCollection(slice), create: readCurrencyCollection(slice) };
}

function writeShardFees(writer: BitWriter, { fees, create }: ShardFees): BitWriter {
  return writeCurrencyCollection(writeCurrencyCollection(writer, fees), create);
}

const KEY_BITS = 96;

const augmentation: Augmentation = {
  join(writer, left, right, store) {
    const [one, other] = [readShardFees(left), readShardFees(right)];
    const fees = addCurrencies(store, one.fees, other.fees);
    writeShardFees(writer, { fees, create: addCurrencies(store, one.create, other.create) });
  },
};

/** The root of `HashmapAug 96 ShardFeeCreated ShardFeeCreated`, keyed by workchain and shard. */
export function storeShardFees(store: CellStore, entries: readonly (ShardIdent & ShardFees)[]): number | undefined {
  const changes = entries.map((entry) => {
    const key = Buffer.alloc(12);
    key.writeInt32BE(entry.workchain);
    key.writeBigUInt64BE(entry.shard, 4);
    return { key, write: (writer: BitWriter): void => void writeShardFees(writeShardFees(writer, entry), entry) };
  });
  return updateHashmap(store, undefined, { bits: KEY_BITS, augmentation }, changes);
}

/** All entries, in the order of their keys. */
export function listShardFees(table: CellTable, root: number | undefined): (ShardIdent & ShardFees)[] {
  const entries: (ShardIdent & ShardFees)[] = [];
  const add = (key: Buffer, value: CellSlice): void => {
    entries.push({ workchain: key.readInt32BE(0), shard: key.readBigUInt64BE(4), ...readShardFees(value) });
  };
  walkHashmap(table, root, KEY_BITS, add, { readExtra: readShardFees });
  return entries;
}

/** Returns the sum of all entries. */
export function totalShardFees(store: CellStore, root: number | undefined): ShardFees {
  if (root === undefined) return { fees: NO_CURRENCIES, create: NO_CURRENCIES };
  return readShardFees(openExtra(store, root, KEY_BITS));
}

/** Writes `shard_fees:ShardFees` from its root. */
export function writeAllShardFees(writer: BitWriter, store: CellStore, root: number | undefined): BitWriter {
  return writeShardFees(writer.maybeRef(root), totalShardFees(store, root));
}
