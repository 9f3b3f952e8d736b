import { setTimeout as sleep } from 'node:timers/promises';

import { FULL_SHARD, MASTERCHAIN } from '../decode/block-id.ts';
import { LiteServerError } from '../liteserver/errors.ts';
import { getAccountState, getAllShardsInfo, getBlockHeader, lookupBlock } from '../liteserver/functions.ts';
import type { DepthKind } from '../liteserver/query-facts.ts';
import { checkAccountState } from '../proof/account-proof.ts';
import { checkBlockHeader } from '../proof/header-proof.ts';
import { checkLookup } from '../proof/lookup-proof.ts';
import { checkAllShards } from '../proof/shards-proof.ts';
import { depthKinds, findEdge } from './depth.ts';
import type { DepthEdge } from './depth.ts';
import type { Member } from './member.ts';
import type { PoolTuning } from './options.ts';

/** Measures how far back one lite server has blocks and states, as long as the pool lives. */
export type DepthProber = {
  /** Searches the edges again soon, because the lite server lacked data that it was expected to have. */
  hurry(): void;
  close(): Promise<void>;
};

/** Bit of lookupBlock's mode: by seqno (service/liteserver/README.md#mode-bits). */
const BY_SEQNO = 0x1;

/** Least milliseconds between two searches, however often `hurry` is called. */
const SEARCH_GAP_MS = 1_000;

/** Elector, an account of every network. */
const masterchainAccount = { workchain: MASTERCHAIN, id: Buffer.alloc(32, 0x33) };

/** Any account of the base chain. Proving that it does not exist needs the state of its shard. */
const shardAccount = { workchain: 0, id: Buffer.alloc(32) };

export function createDepthProber(tuning: PoolTuning, { member }: { member: Member }): DepthProber {
  const { server } = member;
  const stop = new AbortController();
  let wake = new AbortController();

  async function run(): Promise<void> {
    await pause(tuning.depthFirstMs);
    while (!stop.signal.aborted) {
      wake = new AbortController();
      // A server that is not in is searched as soon as it is in.
      const isIn = member.health().phase === 'in';
      if (isIn) for (const kind of depthKinds) await search(kind);
      await pause(isIn ? SEARCH_GAP_MS : tuning.pollMs);
      if (isIn) await pause(tuning.depthMs - SEARCH_GAP_MS, wake.signal);
    }
  }

  /** Searches an edge. If another error than a missing block ends the search, the known edge stays. */
  async function search(kind: DepthKind): Promise<void> {
    const newest = member.tip()?.block.seqno;
    if (newest === undefined || stop.signal.aborted) return;
    const shardSeqnos = new Map<number, number>();
    const has = async (seqno: number): Promise<boolean> => {
      try {
        shardSeqnos.set(seqno, await probe(kind, seqno));
        return true;
      } catch (error) {
        if (error instanceof LiteServerError && (error.code === 'pruned' || error.code === 'lagging')) return false;
        throw error;
      }
    };
    try {
      const masterchain = await findEdge(newest, member.depth()[kind]?.masterchain, has);
      if (masterchain === undefined) return;
      const edge: DepthEdge = { masterchain, shard: shardSeqnos.get(masterchain) ?? 0 };
      member.reaches(kind, edge);
    } catch {
      // Silent, closed or unreadable: the follower handles its health.
    }
  }

  /**
   * Asks for old data. Resolves with the seqno of a shard block there, 0 for the masterchain. Rejects when the lite server does not have the data,
   * and with ProofError when its answer is about something else.
   */
  async function probe(kind: DepthKind, seqno: number): Promise<number> {
    const options = { timeoutMs: tuning.overdueMs, signal: stop.signal };
    const place = { workchain: MASTERCHAIN, shard: FULL_SHARD, seqno };
    const found = await server.query(lookupBlock, { mode: BY_SEQNO, id: place }, options);
    const { id } = checkLookup({ ...place, search: { by: 'seqno', seqno } }, found);
    if (kind === 'masterchainBlock') return 0;
    if (kind === 'shardBlock') {
      const [shard] = checkAllShards({ block: id }, await server.query(getAllShardsInfo, { id }, options));
      if (shard === undefined) return 0;
      checkBlockHeader(shard, await server.query(getBlockHeader, { id: shard.block, mode: 0 }, options));
      return shard.block.seqno;
    }
    const account = kind === 'shardState' ? shardAccount : masterchainAccount;
    const answer = await server.query(getAccountState, { id, account }, options);
    const { shard } = checkAccountState({ block: id, workchain: account.workchain, account: account.id }, answer);
    return kind === 'shardState' ? (shard?.block.seqno ?? 0) : 0;
  }

  async function pause(ms: number, signal?: AbortSignal): Promise<void> {
    try {
      await sleep(Math.max(0, ms), undefined, { signal: AbortSignal.any([stop.signal, ...(signal ? [signal] : [])]) });
    } catch {
      // The pause was woken or closed; the loop checks.
    }
  }

  const done = run();
  return {
    hurry: () => wake.abort(),
    async close() {
      stop.abort();
      await done;
    },
  };
}
