import { setTimeout as sleep } from 'node:timers/promises';

import type { PoolClient } from 'pg';
import type { Logger } from 'pino';

import { borrowed } from './borrowed.ts';
import type { Connections } from './connections.ts';
import { StoreError } from './errors.ts';
import type { PrimaryPositions } from './primary-positions.ts';
import { readWalPosition } from './wal-position.ts';

/** Reason why the primary answers in place of the replica: too old, older than an earlier answer, or failed. */
export type BypassReason = 'lag' | 'behind' | 'failed';

/** Decides for each read whether the replica answers it. */
export type Replica = {
  /** Borrows a connection whose server may answer now. Undefined: the primary is to be asked. */
  borrow(): Promise<PoolClient | undefined>;
  /** Notes a failed read on the replica. True if the primary may answer the read. */
  failed(error: unknown): boolean;
  /** Notes on the primary's connection what its answer may have shown. Later answers of the replica are not older. */
  answered(primary: PoolClient): Promise<void>;
  /** Age of the oldest commit that the replica lacks, in seconds; 0 for none. Undefined for a replica that reports no position. */
  lagSeconds(): number | undefined;
  readonly counts: Connections['counts'];
  /** Resolves when the last borrowed connection is back. */
  end(): Promise<void>;
};

export type ReplicaDependencies = {
  readonly replica: Connections;
  readonly primary: Connections;
  /** Positions of the database, also under earlier URLs. */
  readonly positions: PrimaryPositions;
  readonly onBypass: (reason: BypassReason) => void;
  readonly logger: Logger;
  /** Milliseconds, ascending. */
  readonly clock: () => number;
};

/** Milliseconds between two looks at both servers, and the age of a connection's position that is still used. */
const LOOK_EVERY_MS = 1000;

/** A look takes less than a millisecond. A server that takes longer does not answer. */
const LOOK_TIMEOUT_MS = 2000;

/** Longest wait of a read for the replica to have what an earlier answer showed. Streaming takes some milliseconds. */
const CATCH_UP_MS = 100;
const CATCH_UP_EVERY_MS = 10;

type Look = { readonly position: bigint | undefined; readonly atMs: number };

/** @param maxLagMs lag from which on the primary is asked. While the primary is unavailable, the lag does not matter. */
export function createReplica(maxLagMs: number, dependencies: ReplicaDependencies): Replica {
  const { replica, primary, positions, onBypass, logger, clock } = dependencies;
  /** Several replicas may be behind one host. So each connection has a position of its own. */
  const looks = new WeakMap<PoolClient, Look>();
  let newest: Look = { position: 0n, atMs: clock() };
  let [isAway, isPrimaryLost] = [false, false];
  /** Until then no read waits, because a read waited in vain. */
  let patientFromMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let following: Promise<void> | undefined;
  let ended = false;

  async function lookAt(client: PoolClient): Promise<Look> {
    const look = { position: await inTime(readWalPosition(client)), atMs: clock() };
    looks.set(client, look);
    newest = look;
    return look;
  }

  /** Undefined: a server at this position may answer. */
  function reasonAgainst({ position }: Look): 'lag' | 'behind' | undefined {
    if (position === undefined) return undefined;
    if (!isPrimaryLost && positions.lagMs(position, clock()) > maxLagMs) return 'lag';
    return position < positions.floor() ? 'behind' : undefined;
  }

  /** Waits shortly for a replica that is about to have what an earlier answer showed. Undefined: the connection may answer. */
  async function refusal(client: PoolClient): Promise<BypassReason | undefined> {
    const beganMs = clock();
    let look = looks.get(client) ?? (await lookAt(client));
    if (clock() - look.atMs > LOOK_EVERY_MS) look = await lookAt(client);
    while (true) {
      const reason = reasonAgainst(look);
      if (reason === undefined) return undefined;
      if (clock() - beganMs > CATCH_UP_MS) patientFromMs = clock() + LOOK_EVERY_MS;
      const isFresh = clock() - look.atMs < CATCH_UP_EVERY_MS;
      if (isFresh && (reason === 'lag' || clock() < patientFromMs)) return reason;
      if (isFresh) await sleep(CATCH_UP_EVERY_MS);
      look = await lookAt(client);
    }
  }

  function leave(error: unknown): void {
    if (!isAway) logger.warn({ err: error }, 'the read replica of Postgres fails, so the primary is asked');
    isAway = true;
  }

  async function lookAtPrimary(): Promise<void> {
    const seen = positions.look();
    try {
      const position = await borrowed(primary, (client) => inTime(readWalPosition(client)));
      if (position !== undefined) seen(position, clock());
      isPrimaryLost = false;
    } catch (error) {
      isPrimaryLost = isOutage(error);
    }
  }

  async function lookAtReplica(): Promise<void> {
    try {
      await borrowed(replica, lookAt);
      if (isAway) logger.info('the read replica of Postgres answers again');
      isAway = false;
    } catch (error) {
      leave(error);
    }
  }

  const follow = async (): Promise<void> => {
    await lookAtPrimary();
    await lookAtReplica();
    if (ended) return;
    timer = setTimeout(() => void (following = follow()), LOOK_EVERY_MS);
    timer.unref();
  };

  return {
    async borrow() {
      // A process that reads nothing, such as a migration, looks at no replica.
      following ??= follow();
      if (isAway) {
        onBypass('failed');
        return undefined;
      }
      let client: PoolClient | undefined;
      try {
        client = await replica.borrow();
        const reason = await refusal(client);
        if (reason === undefined) return client;
        client.release();
        onBypass(reason);
      } catch (error) {
        client?.release(true);
        leave(error);
        onBypass('failed');
      }
      return undefined;
    },
    failed(error) {
      if (!isOfReplica(error)) return false;
      if (isOutage(error)) leave(error);
      onBypass('failed');
      return true;
    },
    async answered(client) {
      try {
        positions.raiseFloor((await readWalPosition(client)) ?? 0n);
      } catch (error) {
        // A server without positions has no floor.
        if (isOutage(error)) throw error;
      }
    },
    lagSeconds: () => (newest.position === undefined ? undefined : positions.lagMs(newest.position, clock()) / 1000),
    counts: () => replica.counts(),
    async end() {
      ended = true;
      clearTimeout(timer);
      await following;
      await replica.end();
    },
  };
}

/** Bounds a query that a server may leave without an answer. Its connection is then spent. */
async function inTime<T>(query: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new StoreError('store_unavailable', `no answer within ${LOOK_TIMEOUT_MS} ms`)),
    LOOK_TIMEOUT_MS,
  );
  try {
    return await Promise.race([query, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** SQLSTATE class of locks: the server serves other reads. */
const lockClass = '55';

/** True if the server serves no read now. */
function isOutage(error: unknown): boolean {
  if (!(error instanceof StoreError)) return false;
  const { code, data } = error;
  return code === 'store_refused' || (code === 'store_unavailable' && data.cause?.startsWith(lockClass) !== true);
}

/** A replay that ends a query, a lock of the replay, and a migration that is not replayed yet are states of the replica alone. */
function isOfReplica(error: unknown): boolean {
  if (!(error instanceof StoreError)) return false;
  const isConflict = error.code === 'write_conflict' || error.message.includes('conflict with recovery');
  return isConflict || error.code === 'store_unavailable' || error.code === 'schema_missing' || isOutage(error);
}
