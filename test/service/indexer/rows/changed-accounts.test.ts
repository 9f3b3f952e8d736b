import { beginCell, Cell } from '@ton/core';
import { expect, test } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { changedAccounts } from '#service/indexer/rows/changed-accounts.ts';
import { readRecording } from '../recording.ts';

const changedIn = (update: Cell) => {
  const table = parseBoc(update.toBoc());
  return changedAccounts({ table, stateUpdate: table.roots[0]! });
};

/** `pruned_branch$...` of level 1, for a cell of level 0 or with branches pruned in it already. */
const pruned = (cell: Cell): Cell =>
  beginCell().storeUint(0x0101, 16).storeBuffer(cell.hash(0)).storeUint(cell.depth(0), 16).endCell({ exotic: true });

/** `block ... state_update:^(MERKLE_UPDATE ShardState)`, `shard_state ... accounts:^ShardAccounts`. */
test('accounts that a block leaves as they were need not be shown', async () => {
  const [block] = (await readRecording()).slice(-1);
  const update = Cell.fromBoc(block!.bytes)[0]!.refs[2]!;
  expect(changedIn(update).length).toBeGreaterThan(0);
  const [before, after] = update.refs;
  const hidden = new Cell({
    bits: after!.bits,
    refs: after!.refs.map((ref, at) => (at === 1 ? pruned(ref) : ref)),
  });
  expect(changedIn(new Cell({ exotic: true, bits: update.bits, refs: [before!, hidden] }))).toEqual([]);
});
