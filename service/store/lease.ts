import { StoreError, withStoreErrors } from './errors.ts';
import { addRanges } from './ranges.ts';
import type { Session, Store } from './store.ts';

/** The right to write the head: a single process has it at a time. */
export type HeadLease = {
  /** Grows with each holder. */
  readonly epoch: bigint;
  /** Aborted when the session of the lease has ended. */
  readonly signal: AbortSignal;
  /**
   * Part of the transaction that writes masterchain blocks `from` to `to`. The blocks follow the last block, and the lease is still valid
   * at the commit.
   *
   * @throws StoreError `lease_lost`, `out_of_order`
   */
  advance(session: Session, from: number, to: number): Promise<void>;
  /** The head continues at `seqno`; unwritten blocks before it become ranges of the past. Returns the next seqno. */
  moveTo(seqno: number): Promise<number>;
  /** Ends the lease at once. */
  release(): Promise<void>;
};

/** A holder whose machine is gone is detected after 10 + 3 * 5 seconds. Otherwise the server keeps its lock for hours. */
const sessionSettings = `SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; SET idle_session_timeout = 0`;

/**
 * Takes the lease when it is free. The lease is an advisory lock of a separate session, with a new epoch that each transaction of the head
 * checks. A writer whose session ended unnoticed can try, but never commit.
 *
 * @param holder name of this process, for people
 * @returns undefined while another process has the lease
 */
export async function acquireHeadLease(store: Store, holder: string): Promise<HeadLease | undefined> {
  const client = await store.connect();
  const lost = new AbortController();
  client.once('end', () => lost.abort(leaseLost()));
  try {
    const { rows } = await withStoreErrors(
      client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken', [
        `tonplane head ${store.schema}`,
      ]),
    );
    if (rows[0]?.taken !== true) {
      await client.end();
      return undefined;
    }
    await withStoreErrors(client.query(sessionSettings));
    const epochs = await withStoreErrors(
      client.query<{ head_epoch: bigint }>(
        'UPDATE indexer_state SET head_epoch = head_epoch + 1, head_holder = $1 RETURNING head_epoch',
        [holder],
      ),
    );
    const epoch = epochs.rows[0]?.head_epoch;
    if (epoch === undefined) throw new StoreError('other_network', 'the index has no state: claimIndex comes first');
    return leaseOf(store, epoch, lost.signal, () => client.end());
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

function leaseOf(store: Store, epoch: bigint, signal: AbortSignal, end: () => Promise<void>): HeadLease {
  return {
    epoch,
    signal,
    async advance({ query }, from, to) {
      const [head] = await query<{ head_seqno: number | null }>(
        'SELECT head_seqno FROM indexer_state WHERE head_epoch = $1 FOR UPDATE',
        [epoch],
      );
      if (head === undefined) throw leaseLost();
      if (head.head_seqno !== from - 1) throw outOfOrder(head.head_seqno, from);
      await query('UPDATE indexer_state SET head_seqno = $1', [to]);
    },
    moveTo: (seqno) =>
      store.transaction(async (session) => {
        const [state] = await session.query<{ next: number }>(
          'SELECT coalesce(head_seqno + 1, start_seqno) AS next FROM indexer_state WHERE head_epoch = $1 FOR UPDATE',
          [epoch],
        );
        if (state === undefined) throw leaseLost();
        const next = Math.max(seqno, state.next);
        await session.query('UPDATE indexer_state SET head_seqno = $1', [next - 1]);
        if (next > state.next) await addRanges(session, state.next, next - 1);
        return next;
      }),
    release: end,
  };
}

function leaseLost(): StoreError {
  return new StoreError('lease_lost', 'another process writes the head now');
}

function outOfOrder(last: number | null, from: number): StoreError {
  return new StoreError('out_of_order', `the head is at ${last ?? 'no block'}, a batch begins at ${from}`, {
    found: last ?? 'none',
    expected: from - 1,
  });
}
