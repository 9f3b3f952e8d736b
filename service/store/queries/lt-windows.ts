import type { StoredAccount } from '../account-key.ts';
import { signedOf } from './blocks.ts';
import { keyAt, keysAt } from './conditions.ts';
import type { ReadMode, StoreReader } from './reader.ts';
import { timeOf, type TimeReader, type TimeWindow } from './times.ts';

/** Logical times, both ends included; empty when `from` is greater. */
export type LtWindow = { readonly from: bigint; readonly to: bigint };

/** Window of all lts. */
export const everyLt: LtWindow = { from: 0n, to: 2n ** 63n - 1n };

const noLt: LtWindow = { from: 1n, to: 0n };

/**
 * Largest distance in time between blocks that are made side by side. A shard's block refers to a masterchain block of some seconds before.
 * A masterchain block of the next seconds refers to the shard's block. Ten minutes cover every known halt of a shard. The window only
 * narrows the search.
 */
const SECONDS_APART = 600;

export function intersect(one: LtWindow, other: LtWindow): LtWindow {
  return {
    from: one.from > other.from ? one.from : other.from,
    to: one.to < other.to ? one.to : other.to,
  };
}

/**
 * Lts of transactions of a time, from the masterchain blocks around it. Shard blocks that a masterchain block includes come before it in
 * lt.
 */
export async function ltsOfTimes(store: StoreReader, { startUtime, endUtime }: TimeWindow): Promise<LtWindow> {
  const time = timeOf('gen_utime', store);
  const masterchain = `SELECT start_lt AS lt FROM blocks WHERE workchain = -1 AND ${time}`;
  const [before, after] = await Promise.all([
    startUtime === undefined
      ? []
      : store.read<Edge>(
          `${masterchain} < $1::bigint ORDER BY ${time} DESC LIMIT 1`,
          [startUtime - SECONDS_APART],
          named('lt_before', store),
        ),
    endUtime === undefined
      ? []
      : store.read<Edge>(
          `${masterchain} > $1::bigint ORDER BY ${time} LIMIT 1`,
          [endUtime + SECONDS_APART],
          named('lt_after', store),
        ),
  ]);
  return { from: before[0]?.lt ?? everyLt.from, to: after[0]?.lt ?? everyLt.to };
}

type Edge = { readonly lt: bigint };

/** Mode of a statement whose text compares times. */
function named(statement: string, { passes2038 = false }: TimeReader): ReadMode {
  return { statement: passes2038 ? `${statement}_unsigned` : statement };
}

/**
 * Lts of transactions of an account and a time. The window is from the last block before to the first block after, among the account's
 * blocks. Along these blocks both lt and time grow, through splits and merges. Without such a block nearby the bound of `ltsOfTimes`
 * applies.
 */
export async function ltsOfAccountTimes(
  store: StoreReader,
  { workchain, id }: StoredAccount,
  { startUtime, endUtime }: TimeWindow,
): Promise<LtWindow> {
  const shards = shardsOf(id);
  const time = timeOf('gen_utime', store);
  const near = (lt: string, from: number, to: number, sort: string): Promise<readonly Edge[]> =>
    store.read<Edge>(
      `SELECT ${lt} AS lt FROM blocks WHERE ${time} >= ${keyAt('$1', 'bigint')} AND ${time} <= ${keyAt('$2', 'bigint')}
         AND workchain = ${keyAt('$3', 'bigint')} AND shard = ANY(${keysAt('$4', 'bigint')}::bigint[])
       ORDER BY ${time} ${sort} LIMIT 1`,
      [from, to, workchain, shards],
      named(`${lt}_of_account`, store),
    );
  const [before, after] = await Promise.all([
    startUtime === undefined ? [] : near('start_lt', startUtime - SECONDS_APART, startUtime - 1, 'DESC'),
    endUtime === undefined ? [] : near('end_lt', endUtime + 1, endUtime + SECONDS_APART, 'ASC'),
  ]);
  const around = await ltsOfTimes(store, {
    startUtime: before[0] === undefined ? startUtime : undefined,
    endUtime: after[0] === undefined ? endUtime : undefined,
  });
  return { from: before[0]?.lt ?? around.from, to: after[0]?.lt ?? around.to };
}

/** The deepest split that the chain allows. */
const PREFIX_BITS_MAX = 60;

/** Signed shards that an account can be in: any number of its first bits, then a 1 and zeros. */
function shardsOf(accountId: Uint8Array): readonly bigint[] {
  const prefix = Buffer.from(accountId).readBigUInt64BE(0);
  return Array.from({ length: PREFIX_BITS_MAX + 1 }, (_, bits) => {
    const end = 1n << BigInt(63 - bits);
    return BigInt.asIntN(64, (prefix & (-2n * end)) | end);
  });
}

/** Identifies the blocks of the wanted rows. */
export type BlockNames = {
  readonly workchain?: number | undefined;
  /** Unsigned 64 bits. */
  readonly shard?: bigint | undefined;
  readonly seqno?: number | undefined;
};

/** Lts of transactions of some blocks, from the indexed blocks. */
export async function ltsOfBlocks(store: StoreReader, { workchain, shard, seqno }: BlockNames): Promise<LtWindow> {
  const names = { workchain, shard: signedOf(shard), seqno };
  const given = Object.entries(names).filter(([, value]) => value !== undefined);
  // A workchain's blocks are everywhere.
  if (given.length === 0 || (workchain !== undefined && given.length === 1)) return everyLt;
  const where = given.map(([name], at) => `${name} = $${at + 1}`).join(' AND ');
  const values = given.map(([, value]) => value);
  const statement = `lts_of_${given.map(([name]) => name).join('_')}`;
  if (seqno !== undefined) {
    const [found] = await store.read<Ends>(
      `SELECT min(start_lt) AS first, max(end_lt) AS last FROM blocks WHERE ${where}`,
      values,
      { statement },
    );
    return windowOf(found);
  }
  const order = workchain === undefined ? timeOf('gen_utime', store) : 'seqno';
  const end = (column: string, sort: string): string =>
    `(SELECT ${column} FROM blocks WHERE ${where} ORDER BY ${order} ${sort} LIMIT 1)`;
  const [found] = await store.read<Ends>(
    `SELECT ${end('start_lt', '')} AS first, ${end('end_lt', 'DESC')} AS last`,
    values,
    workchain === undefined ? named(statement, store) : { statement },
  );
  const window = windowOf(found);
  if (workchain !== undefined || window === noLt) return window;
  return { from: window.from - LTS_APART, to: window.to + LTS_APART };
}

/** Margin for shards of the same name in two workchains. Their first and last blocks in time may differ from the first and last in lt. */
const LTS_APART = 1_000_000_000n;

type Ends = { readonly first: bigint | null; readonly last: bigint | null };

function windowOf(ends: Ends | undefined): LtWindow {
  if (ends === undefined || ends.first === null || ends.last === null) return noLt;
  return { from: ends.first, to: ends.last };
}
