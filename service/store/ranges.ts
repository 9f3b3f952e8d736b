import { StoreError } from './errors.ts';
import type { Session, Store } from './store.ts';

/** Masterchain blocks of the past that a worker writes, in order. */
export type ClaimedRange = {
  /** First unwritten block. */
  readonly next: number;
  /** The last, inclusive. */
  readonly to: number;
  /**
   * Part of the transaction that writes masterchain blocks `from` to `to`. The blocks follow the finished blocks. Renews the claim.
   *
   * @throws StoreError `range_lost`, `out_of_order`
   */
  advance(session: Session, from: number, to: number): Promise<void>;
  /** Renews the claim during a long batch. @throws StoreError `range_lost` */
  heartbeat(): Promise<void>;
  /** Gives it back unfinished. */
  release(): Promise<void>;
};

/** Blocks of a claim: some minutes of work, so that workers seldom meet and a crash loses little. */
export const RANGE_BLOCKS = 5000;

/** Ranges inserted by a statement. */
const RANGES_AT_ONCE = 10_000;

/** Queues masterchain blocks `from` to `to`, inclusive, for writers of the past. */
export async function addRanges({ query }: Session, from: number, to: number): Promise<void> {
  for (let first = from; first <= to; first += RANGE_BLOCKS * RANGES_AT_ONCE) {
    await query(
      `INSERT INTO backfill_ranges (from_seqno, to_seqno, done_until)
       SELECT f, least(f + $3::integer - 1, $2::integer), f - 1 FROM generate_series($1::integer, $2::integer, $3::integer) AS f`,
      [first, Math.min(to, first + RANGE_BLOCKS * RANGES_AT_ONCE - 1), RANGE_BLOCKS],
    );
  }
}

/**
 * Claims the newest unfinished range that is unclaimed or whose claim has expired.
 *
 * @param worker name of this process, for people
 * @param claimMs duration of the claim without a heartbeat
 * @returns undefined without such a range
 */
export async function claimRange(store: Store, worker: string, claimMs: number): Promise<ClaimedRange | undefined> {
  const rows = await store.transaction(({ query }) =>
    query<{ id: bigint; done_until: number; to_seqno: number; claim: bigint }>(
      `UPDATE backfill_ranges SET claim = claim + 1, claimed_by = $1, claimed_until = now() + $2 * interval '1 millisecond'
       WHERE id = (
         SELECT id FROM backfill_ranges
         WHERE done_until < to_seqno AND (claimed_until IS NULL OR claimed_until < now())
         ORDER BY from_seqno DESC LIMIT 1 FOR UPDATE SKIP LOCKED)
       RETURNING id, done_until, to_seqno, claim`,
      [worker, claimMs],
    ),
  );
  const [row] = rows;
  return row && rangeOf(store, row, claimMs);
}

function rangeOf(
  store: Store,
  { id, done_until, to_seqno, claim }: { id: bigint; done_until: number; to_seqno: number; claim: bigint },
  claimMs: number,
): ClaimedRange {
  const hold = async ({ query }: Session, set: string, values: readonly unknown[]): Promise<number> => {
    const [row] = await query<{ before: number }>(
      'SELECT done_until AS before FROM backfill_ranges WHERE id = $1 AND claim = $2 FOR UPDATE',
      [id, claim],
    );
    if (row === undefined) throw new StoreError('range_lost', `another worker has the range up to ${to_seqno} now`);
    await query(`UPDATE backfill_ranges SET ${set} WHERE id = $1`, [id, ...values]);
    return row.before;
  };
  const renewal = `claimed_until = now() + $2 * interval '1 millisecond'`;
  return {
    next: done_until + 1,
    to: to_seqno,
    async advance(session, from, to) {
      const before = await hold(session, `${renewal}, done_until = $3`, [claimMs, to]);
      if (before === from - 1) return;
      throw new StoreError('out_of_order', `the range is done until ${before}, a batch begins at ${from}`, {
        found: before,
        expected: from - 1,
      });
    },
    async heartbeat() {
      await store.transaction((session) => hold(session, renewal, [claimMs]));
    },
    async release() {
      await store.transaction(({ query }) =>
        query('UPDATE backfill_ranges SET claimed_by = NULL, claimed_until = NULL WHERE id = $1 AND claim = $2', [
          id,
          claim,
        ]),
      );
    },
  };
}

/**
 * Queues missing masterchain blocks `from` to `to`, inclusive, that no unfinished range covers. Such blocks were deleted by hand, with all
 * of their rows. Reads the primary key of `blocks` over that span: call it with spans of bounded size.
 *
 * @returns the gaps, each with its first and last seqno
 */
export async function queueGaps(
  store: Store,
  from: number,
  to: number,
): Promise<readonly { readonly from: number; readonly to: number }[]> {
  return store.transaction(async (session) => {
    // The lock prevents other processes from adding or ending ranges.
    await session.query('LOCK TABLE backfill_ranges IN SHARE ROW EXCLUSIVE MODE');
    const gaps = await session.query<{ from: number; to: number }>(
      `SELECT lower(gap) AS "from", upper(gap) - 1 AS "to" FROM unnest(
         int4multirange(int4range($1, $2, '[]'))
         - (SELECT coalesce(range_agg(int4range(seqno, seqno, '[]')), '{}') FROM blocks
            WHERE workchain = -1 AND shard = (-9223372036854775808)::bigint AND seqno BETWEEN $1 AND $2)
         - (SELECT coalesce(range_agg(int4range(done_until + 1, to_seqno, '[]')), '{}') FROM backfill_ranges WHERE done_until < to_seqno)
       ) AS gap ORDER BY 1`,
      [from, to],
    );
    for (const gap of gaps) await addRanges(session, gap.from, gap.to);
    return gaps;
  });
}
