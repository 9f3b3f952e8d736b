import { blocks, type BlockRow } from '../tables.ts';
import { columnsOf, createConditions, keyAt, pageOf, type Direction, type Page } from './conditions.ts';
import { addAfter, orderBy, orderFor, type After, type Order } from './order.ts';
import type { StoreReader } from './reader.ts';
import { addTimes } from './times.ts';

/** Filter of blocks; all conditions apply. Windows are inclusive at both ends. */
export type BlockFilter = {
  readonly workchain?: number | undefined;
  /** Unsigned 64 bits. */
  readonly shard?: bigint | undefined;
  readonly seqno?: number | undefined;
  readonly rootHash?: Uint8Array | undefined;
  readonly fileHash?: Uint8Array | undefined;
  /** Seqno of the masterchain block that includes the block. */
  readonly mcSeqno?: number | undefined;
  readonly startUtime?: number | undefined;
  readonly endUtime?: number | undefined;
  /** On the block's first lt. */
  readonly startLt?: bigint | undefined;
  readonly endLt?: bigint | undefined;
};

const shown = `SELECT ${columnsOf(blocks, 'b')} FROM blocks b`;

/** Version of the rules of a block named `b`: rows of older releases have the software's version alone. */
export const versionOfRules = 'coalesce(b.global_version, b.software_version)';

const masterchain = `b.workchain = -1 AND b.shard = ${-(2n ** 63n)}`;

const masterchainEnd = {
  first: `${shown} WHERE ${masterchain} ORDER BY b.seqno ASC LIMIT 1`,
  last: `${shown} WHERE ${masterchain} ORDER BY b.seqno DESC LIMIT 1`,
};

/** Blocks by time, then by id. */
export function findBlocks(
  store: StoreReader,
  filter: BlockFilter,
  page: Page & After & { readonly sort: Direction },
): Promise<readonly BlockRow[]> {
  const conditions = createConditions();
  conditions.when(filter.workchain, (at) => `b.workchain = ${at}`);
  conditions.when(signedOf(filter.shard), (at) => `b.shard = ${at}`);
  conditions.when(filter.seqno, (at) => `b.seqno = ${at}`);
  conditions.when(filter.rootHash, (at) => `b.root_hash = ${at}`);
  conditions.when(filter.fileHash, (at) => `b.file_hash = ${at}`);
  conditions.when(filter.mcSeqno, (at) => `b.mc_seqno = ${at}`);
  addTimes(conditions, 'b.gen_utime', filter, store);
  conditions.when(filter.startLt, (at) => `b.start_lt >= ${at}`);
  conditions.when(filter.endLt, (at) => `b.start_lt <= ${at}`);
  const order = orderFor(blockOrder(page), store);
  addAfter(conditions, order, 'b', page.after);
  return store.read(`${shown} ${conditions.where()} ${orderBy(order, 'b')} ${pageOf(page)}`, conditions.values);
}

/** Order of blocks (service/v3/README.md#order). */
export function blockOrder({ sort }: { readonly sort: Direction }): Order {
  return [
    { column: 'gen_utime', type: 'utime', sort },
    { column: 'workchain', type: 'integer', sort: 'asc' },
    { column: 'shard', type: 'bigint', sort: 'asc' },
    { column: 'seqno', type: 'integer', sort: 'asc' },
  ];
}

/** The tops of all shards at a masterchain block, itself first. */
export function findShardTops(store: StoreReader, mcSeqno: number): Promise<readonly BlockRow[]> {
  const join = 'JOIN shard_tops t USING (workchain, shard, seqno)';
  const sql = `${shown} ${join} WHERE t.mc_seqno = ${keyAt('$1', 'integer')} ORDER BY b.workchain, b.shard, b.seqno`;
  return store.read(sql, [mcSeqno], { statement: 'shard_tops' });
}

/** The newest or the oldest indexed masterchain block. */
export async function findMasterchainEnd(store: StoreReader, end: 'first' | 'last'): Promise<BlockRow | undefined> {
  const rows = await store.read<BlockRow>(masterchainEnd[end], [], { statement: `masterchain_${end}` });
  return rows[0];
}

/** Both ends, of one moment; undefined for an empty index. */
export async function findMasterchainEnds(
  store: StoreReader,
): Promise<{ readonly last: BlockRow; readonly first: BlockRow } | undefined> {
  const both = `(${masterchainEnd.last}) UNION ALL (${masterchainEnd.first})`;
  const [last, first] = await store.read<BlockRow>(both, [], { statement: 'masterchain_ends' });
  return last === undefined || first === undefined ? undefined : { last, first };
}

/** True if a masterchain block is indexed. */
export async function hasMasterchainBlock(store: StoreReader, seqno: number): Promise<boolean> {
  const sql = `SELECT 1 FROM blocks b WHERE ${masterchain} AND b.seqno = ${keyAt('$1', 'integer')}`;
  const rows = await store.read(sql, [seqno], { statement: 'masterchain_block' });
  return rows.length > 0;
}

/** The shard in the form of its column. */
export function signedOf(shard: bigint | undefined): bigint | undefined {
  return shard === undefined ? undefined : BigInt.asIntN(64, shard);
}
