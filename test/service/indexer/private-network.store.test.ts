import { afterEach, expect, test } from 'vitest';

import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import type { Store } from '#service/store/store.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { live } from '../devchain/lively.ts';
import { openPool } from '../pool/network.ts';
import { patientPool, startIndexer, untilIndexed } from './index-under-test.ts';
import { filesOver } from './recording.ts';
import { tableHashes } from './table-hashes.ts';

const closings: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

async function newStore(): Promise<Store> {
  const made = await createMigratedStore(import.meta.filename);
  closings.push(() => made.close());
  return made.store;
}

test('a private network is followed block by block through splits, a merge and new validators, and indexed the same from its past', async () => {
  const network = await startPrivateNetwork({ splitMergeDelaySeconds: 2, splitMergeIntervalSeconds: 60 });
  closings.push(() => network.close());
  const open = openPool({ ...network, moveHead: () => undefined }, { tuning: patientPool });
  closings.push(() => open.close());
  const files = filesOver(open.pool);
  const settings = { network: network.chain.zeroStates[0]!.id };

  const following = await newStore();
  const follower = startIndexer(following, files, settings);
  closings.push(() => follower.close());
  await live(network);
  const last = network.head().id.seqno;
  await untilIndexed(following, last);

  expect(await blocksOf(following)).toEqual(blocksMade(network, last));
  expect(new Set((await blocksOf(following)).map((one) => one.split(':')[1])).size).toBeGreaterThan(4);
  const later = await newStore();
  const past = startIndexer(later, files, { ...settings, tuning: { gapBlocksMax: 3 } });
  closings.push(() => past.close());
  await untilIndexed(later, last);
  expect(await tableHashes(later)).toEqual(await tableHashes(following));
});

/** `workchain:shard:seqno:roothash`. */
type Made = string;

async function blocksOf(store: Store): Promise<readonly Made[]> {
  const rows = await store.read<{ workchain: number; shard: bigint; seqno: number; root_hash: Buffer }>(
    'SELECT workchain, shard, seqno, root_hash FROM blocks',
  );
  const made = rows.map((row) => madeOf(row.workchain, BigInt.asUintN(64, row.shard), row.seqno, row.root_hash));
  return made.toSorted(byText);
}

/** What the network says itself, at both ends of each of the four quarters of the basechain. */
function blocksMade({ chain }: PrivateNetwork, last: number): readonly Made[] {
  const quarters = [0n, 1n, 2n, 3n].map((quarter) => (quarter << 62n) | (1n << 61n));
  const all = [...chain.along(-1, 1n << 63n), ...quarters.flatMap((quarter) => chain.along(0, quarter))];
  const made = all
    .filter(({ masterchainSeqno }) => masterchainSeqno <= last)
    .map(({ id }) => madeOf(id.workchain, id.shard, id.seqno, id.rootHash));
  return [...new Set(made)].toSorted(byText);
}

function madeOf(workchain: number, shard: bigint, seqno: number, rootHash: Buffer): Made {
  return `${workchain}:${shard.toString(16)}:${seqno}:${rootHash.toString('hex')}`;
}

function byText(one: string, other: string): number {
  return one < other ? -1 : 1;
}
