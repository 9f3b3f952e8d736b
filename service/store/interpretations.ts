import { announceClassified } from './classified-news.ts';
import { int, lt } from './columns.ts';
import { StoreError } from './errors.ts';
import { encodeArray } from './field-encoding.ts';
import type { Query, Session, Store } from './store.ts';

/** Masterchain blocks that a worker interprets. */
export type ClaimedBlocks = {
  /** Newest first. */
  readonly seqnos: readonly number[];
  /** Blocks of them that no version has interpreted before. */
  readonly fresh: ReadonlySet<number>;
  /**
   * Part of the transaction that writes the results: the blocks are done, and its commit announces them.
   *
   * @throws StoreError `claim_lost`, also when a block has got further traces since the claim
   */
  finish(session: Session): Promise<void>;
  /** Renews the claim during long work. @throws StoreError `claim_lost` */
  heartbeat(): Promise<void>;
  /** Releases the blocks undone, to be claimed again at once or after a delay. From `ASIDE_MS_MIN` on readers do not wait for them. */
  release(laterMs?: number): Promise<void>;
};

export type ClaimOptions = {
  /** Version of the interpreter: work for a newer version is left to it. */
  readonly version: number;
  readonly blocksMax: number;
  /** Duration of a claim without a heartbeat, in milliseconds. */
  readonly claimMs: number;
};

/** Delay of a block that is put aside, because it cannot be interpreted. A claim lasts a minute. */
export const ASIDE_MS_MIN = 120_000;

/** Represents the zerostates among masterchain blocks: it is queued when their accounts are written. */
export const ZEROSTATES_SEQNO = 0;

/**
 * Queues masterchain blocks, in the transaction that writes them or brings traces that end in them. A worker that has claimed such a block
 * starts again.
 */
export async function queueInterpretations({ query }: Session, seqnos: Iterable<number>): Promise<void> {
  const all = [...new Set(seqnos)];
  if (all.length === 0) return;
  await query(
    `INSERT INTO interpretations AS stored (mc_seqno) SELECT given FROM unnest($1::integer[]) AS given ORDER BY given
     ON CONFLICT (mc_seqno) DO UPDATE SET todo = true, claim = stored.claim + 1, claimed_until = NULL`,
    [encodeArray(int, all)],
  );
}

/**
 * Claims the newest open blocks that are unclaimed or whose claim has expired.
 *
 * @returns undefined without such blocks
 */
export async function claimInterpretations(
  store: Store,
  { version, blocksMax, claimMs }: ClaimOptions,
): Promise<ClaimedBlocks | undefined> {
  const rows = await store.transaction(
    ({ query }) =>
      query<ClaimedBlock>(
        `WITH picked AS MATERIALIZED (
           SELECT mc_seqno FROM interpretations
           WHERE todo AND version <= $1 AND (claimed_until IS NULL OR claimed_until < now())
           ORDER BY mc_seqno DESC LIMIT $2 FOR UPDATE SKIP LOCKED)
         UPDATE interpretations AS stored SET claim = claim + 1, claimed_until = now() + $3 * interval '1 millisecond'
         FROM picked WHERE stored.mc_seqno = picked.mc_seqno RETURNING stored.mc_seqno, stored.claim, stored.version`,
        [version, blocksMax, claimMs],
      ),
    { durable: false },
  );
  return rows.length === 0
    ? undefined
    : claimedBlocks(
        store,
        rows.toSorted((one, other) => other.mc_seqno - one.mc_seqno),
        { version, claimMs },
      );
}

type ClaimedBlock = BlockVersion & { readonly claim: bigint };

function claimedBlocks(
  store: Store,
  rows: readonly ClaimedBlock[],
  { version, claimMs }: Pick<ClaimOptions, 'version' | 'claimMs'>,
): ClaimedBlocks {
  const seqnos = rows.map(({ mc_seqno }) => mc_seqno);
  const claims = rows.map(({ claim }) => claim);
  const set = ({ query }: Session, sets: string, values: readonly unknown[]): Promise<readonly object[]> =>
    query(
      `UPDATE interpretations AS stored SET ${sets} FROM unnest($1::integer[], $2::bigint[]) AS given (mc_seqno, claim)
       WHERE stored.mc_seqno = given.mc_seqno AND stored.claim = given.claim AND stored.todo RETURNING 1`,
      [encodeArray(int, seqnos), encodeArray(lt, claims), ...values],
    );
  const setAll = async (...update: Parameters<typeof set>): Promise<void> => {
    const { length } = await set(...update);
    if (length < rows.length) throw claimLost(seqnos);
  };
  return {
    seqnos,
    fresh: new Set(rows.filter((row) => row.version === 0).map(({ mc_seqno }) => mc_seqno)),
    async finish(session) {
      await setAll(session, 'todo = false, version = $3, claimed_until = NULL', [version]);
      await announceClassified(session, seqnos);
    },
    heartbeat: () =>
      store.transaction(
        (session) => setAll(session, `claimed_until = now() + $3 * interval '1 millisecond'`, [claimMs]),
        {
          durable: false,
        },
      ),
    async release(laterMs = 0) {
      const until = `claimed_until = now() + $3 * interval '1 millisecond'`;
      await store.transaction((session) => set(session, until, [laterMs]), { durable: false });
    },
  };
}

function claimLost(seqnos: readonly number[]): StoreError {
  return new StoreError('claim_lost', `blocks from ${seqnos[0]} down are another worker's now, or have changed`);
}

/** Change of the interpretation that only concerns blocks with messages of some opcodes. */
export type PartialChange = {
  /** First version with the change. */
  readonly version: number;
  /** Unsigned 32 bits. */
  readonly opcodes: readonly number[];
};

/** Versions of an interpretation. A change of rows has a new version. */
export type InterpretationChanges = {
  /** Newest version of all. */
  readonly newest: number;
  /** Newest version that concerns all blocks. */
  readonly whole: number;
  /** Later changes that only concern some blocks. */
  readonly partial: readonly PartialChange[];
};

/** Blocks of an older version: queued again, or counted as blocks of the newest version because no change concerns them. */
export type OlderBlocks = { readonly queued: number; readonly passed: number };

/** Reviews blocks that an older version has done, newest first. Old results of queued blocks are served until the blocks are done again. */
export async function reviewOlder(
  store: Store,
  { changes, blocksMax }: { readonly changes: InterpretationChanges; readonly blocksMax: number },
): Promise<OlderBlocks> {
  return store.transaction(async ({ query }) => {
    const older = await query<BlockVersion>(
      `SELECT mc_seqno, version FROM interpretations WHERE NOT todo AND version < $1
       ORDER BY version, mc_seqno DESC LIMIT $2 FOR UPDATE SKIP LOCKED`,
      [changes.newest, blocksMax],
    );
    const isWhole = ({ version }: BlockVersion): boolean => version < changes.whole;
    const concerned = await readConcerned(
      query,
      older.filter((block) => !isWhole(block)),
      changes.partial,
    );
    const [again, passed] = [true, false].map((wanted) =>
      older.flatMap((block) => ((isWhole(block) || concerned.has(block.mc_seqno)) === wanted ? [block.mc_seqno] : [])),
    ) as [number[], number[]];
    if (again.length > 0) {
      await query('UPDATE interpretations SET todo = true WHERE mc_seqno = ANY ($1::integer[])', [
        encodeArray(int, again),
      ]);
    }
    if (passed.length > 0) {
      await query('UPDATE interpretations SET version = $2 WHERE mc_seqno = ANY ($1::integer[])', [
        encodeArray(int, passed),
        changes.newest,
      ]);
    }
    return { queued: again.length, passed: passed.length };
  });
}

type BlockVersion = { readonly mc_seqno: number; readonly version: number };

/** Greatest distance between the lt of a transaction and of a message that it made. A transaction has at most 255 actions. */
const MADE_LT_MAX = 1024;

/** Returns blocks with a trace that has a message with an opcode of a later change. Messages to outside have no transaction. */
async function readConcerned(
  query: Query,
  blocks: readonly BlockVersion[],
  partial: readonly PartialChange[],
): Promise<ReadonlySet<number>> {
  const pairs = partial.flatMap(({ version, opcodes }) => opcodes.map((opcode) => ({ version, opcode: opcode | 0 })));
  const changed = pairs.filter(({ version }) => blocks.some((block) => block.version < version));
  if (changed.length === 0) return new Set();
  const seqnos = encodeArray(
    int,
    blocks.map(({ mc_seqno }) => mc_seqno),
  );
  const [bounds] = await query<{ from: bigint | null; to: bigint | null }>(
    'SELECT min(start_lt) AS from, max(end_lt) AS to FROM traces WHERE mc_seqno_end = ANY ($1::integer[])',
    [seqnos],
  );
  if (bounds === undefined || bounds.from === null || bounds.to === null) return new Set();
  // The bounds spare looking into the partitions of all other lts.
  const rows = await query<{ mc_seqno: number }>(
    `SELECT DISTINCT given.mc_seqno FROM unnest($1::integer[], $2::integer[]) AS given (mc_seqno, version)
     JOIN traces t ON t.mc_seqno_end = given.mc_seqno
     JOIN transactions x ON x.trace_id = t.trace_id AND x.lt >= $5 AND x.lt <= $6
     CROSS JOIN LATERAL (
       SELECT x.in_opcode AS opcode
       UNION ALL SELECT m.opcode FROM messages m WHERE m.source = x.account AND m.kind = 2
         AND m.created_lt > x.lt AND m.created_lt <= x.lt + ${MADE_LT_MAX} AND m.lt > $5 AND m.lt <= $6 + ${MADE_LT_MAX}) AS seen
     JOIN unnest($3::integer[], $4::integer[]) AS changed (version, opcode)
       ON changed.opcode = seen.opcode AND changed.version > given.version`,
    [
      seqnos,
      encodeArray(
        int,
        blocks.map(({ version }) => version),
      ),
      encodeArray(
        int,
        changed.map(({ version }) => version),
      ),
      encodeArray(
        int,
        changed.map(({ opcode }) => opcode),
      ),
      bounds.from,
      bounds.to,
    ],
  );
  return new Set(rows.map(({ mc_seqno }) => mc_seqno));
}

/** Remaining work of all workers. */
export type InterpretationsLeft = {
  /** Masterchain blocks to be interpreted, for the first time or again. */
  readonly todo: number;
  /** Blocks of an older version that are not reviewed yet. */
  readonly older: number;
  /** Newest block to do; null without any. */
  readonly newest: number | null;
};

/** True if no masterchain block from one seqno to another waits for its interpretation. Blocks that are not indexed count as interpreted. */
export async function areInterpreted(store: Pick<Store, 'read'>, from: number, to: number): Promise<boolean> {
  const open = await store.read('SELECT FROM interpretations WHERE todo AND mc_seqno BETWEEN $1 AND $2 LIMIT 1', [
    from,
    to,
  ]);
  return open.length === 0;
}

/** Counts the open rows: takes a second for some millions of them. */
export async function countInterpretations(store: Store, version: number): Promise<InterpretationsLeft> {
  const [row] = await store.transaction(({ query }) =>
    query<{ todo: bigint; older: bigint; newest: number | null }>(
      `SELECT (SELECT count(*) FROM interpretations WHERE todo) AS todo,
         (SELECT count(*) FROM interpretations WHERE NOT todo AND version < $1) AS older,
         (SELECT max(mc_seqno) FROM interpretations WHERE todo) AS newest`,
      [version],
    ),
  );
  return { todo: Number(row?.todo ?? 0), older: Number(row?.older ?? 0), newest: row?.newest ?? null };
}
