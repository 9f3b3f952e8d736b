import { StoreError } from './errors.ts';
import { ZEROSTATES_SEQNO } from './interpretations.ts';
import { LOOK_TIMEOUT_MS, type Store } from './store.ts';

/** Root and file hash of a network's zero state. */
export type NetworkHashes = { readonly rootHash: Uint8Array; readonly fileHash: Uint8Array };

/** Properties of an index that never change. */
export type IndexIdentity = NetworkHashes & {
  /** First masterchain block of the index. */
  readonly startSeqno: number;
};

type StateRow = {
  readonly network_root_hash: Buffer;
  readonly network_file_hash: Buffer;
  readonly start_seqno: number;
};

/**
 * Sets the identity of a new index, or checks the identity of an existing index.
 *
 * @throws StoreError `other_network`
 */
export async function claimIndex(store: Store, identity: IndexIdentity): Promise<void> {
  await store.transaction(
    async ({ query }) => {
      await query(
        `INSERT INTO indexer_state (network_root_hash, network_file_hash, start_seqno) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
        [identity.rootHash, identity.fileHash, identity.startSeqno],
      );
      const [found] = await query<StateRow>(
        'SELECT network_root_hash, network_file_hash, start_seqno FROM indexer_state',
      );
      if (found === undefined) throw new StoreError('other_network', 'the index has no state');
      refuseOtherNetwork(found, identity);
      refuseOtherStart(found, identity);
    },
    { timeoutMs: LOOK_TIMEOUT_MS },
  );
}

/**
 * Passes for an index of this network, and for an empty index.
 *
 * @throws StoreError `other_network`
 */
export async function checkNetwork(store: Store, network: NetworkHashes): Promise<void> {
  const [found] = await store.read<StateRow>(
    'SELECT network_root_hash, network_file_hash, start_seqno FROM indexer_state',
    [],
    { timeoutMs: LOOK_TIMEOUT_MS },
  );
  if (found !== undefined) refuseOtherNetwork(found, network);
}

function refuseOtherNetwork(found: StateRow, { rootHash, fileHash }: NetworkHashes): void {
  if (!found.network_root_hash.equals(rootHash) || !found.network_file_hash.equals(fileHash)) {
    const [was, is] = [found.network_root_hash.toString('base64'), Buffer.from(rootHash).toString('base64')];
    throw new StoreError('other_network', `the index holds the network ${was}, not ${is}`, {
      found: was,
      expected: is,
    });
  }
}

function refuseOtherStart(found: StateRow, { startSeqno }: IndexIdentity): void {
  if (found.start_seqno !== startSeqno) {
    throw new StoreError('other_network', `the index begins at block ${found.start_seqno}, not at ${startSeqno}`, {
      found: found.start_seqno,
      expected: startSeqno,
    });
  }
}

/** True for an index that has the first masterchain block without the accounts of its zerostates. */
export async function lacksZeroStates(store: Store): Promise<boolean> {
  const [row] = await store.transaction(({ query }) =>
    query<{ lacks: boolean }>(
      `SELECT EXISTS (SELECT FROM blocks WHERE workchain = -1 AND shard = ${-(2n ** 63n)} AND seqno = 1)
         AND NOT EXISTS (SELECT FROM interpretations WHERE mc_seqno = ${ZEROSTATES_SEQNO}) AS lacks`,
    ),
  );
  return row?.lacks ?? false;
}

/** A masterchain block of the index. */
export type IndexedBlock = { readonly seqno: number; readonly rootHash: Buffer };

/** Returns the newest masterchain block of the index; undefined of an empty index. */
export async function newestBlock(store: Store): Promise<IndexedBlock | undefined> {
  const [row] = await store.transaction(
    ({ query }) =>
      query<{ seqno: number; root_hash: Buffer }>(
        `SELECT seqno, root_hash FROM blocks WHERE workchain = -1 AND shard = ${-(2n ** 63n)} ORDER BY seqno DESC LIMIT 1`,
      ),
    { timeoutMs: LOOK_TIMEOUT_MS },
  );
  return row && { seqno: row.seqno, rootHash: row.root_hash };
}

/** How far the index is. */
export type IndexProgress = {
  readonly startSeqno: number;
  /** Last masterchain block written at the head; null before the first. */
  readonly headSeqno: number | null;
  /** Masterchain blocks of the past to be written. */
  readonly missingBlocks: number;
  /** Ranges of the past with a current claim. */
  readonly claimedRanges: number;
};

/** Undefined before the index begins. */
export async function readProgress(store: Store): Promise<IndexProgress | undefined> {
  const rows = await store.transaction(
    ({ query }) =>
      query<{ start_seqno: number; head_seqno: number | null; missing: bigint; claimed: bigint }>(
        `SELECT start_seqno, head_seqno,
         (SELECT coalesce(sum(to_seqno - done_until), 0)::bigint FROM backfill_ranges WHERE done_until < to_seqno) AS missing,
         (SELECT count(*) FROM backfill_ranges WHERE done_until < to_seqno AND claimed_until > now()) AS claimed
       FROM indexer_state`,
      ),
    { timeoutMs: LOOK_TIMEOUT_MS },
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    startSeqno: row.start_seqno,
    headSeqno: row.head_seqno,
    missingBlocks: Number(row.missing),
    claimedRanges: Number(row.claimed),
  };
}
