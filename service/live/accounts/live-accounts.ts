import { createHiddenProperty } from '#service/runtime/hidden-property.ts';
import type { Pool } from '#service/pool/pool.ts';
import { createAccountReader } from './account-reader.ts';
import type { AccountReaderOptions } from './account-reader.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import type { AccountView } from './account-view.ts';
import type { LiveAccount, LiveAccounts } from './accounts.ts';
import { joinAnswers } from '#service/contract/answer.ts';
import { pinBlock } from '../pinned-block.ts';
import { createTimeSlice, type TimeSlice } from '#service/runtime/time-slice.ts';
import { storeShardAccount, type OpenedShardAccount } from '#service/tvm/shard-account.ts';
import { importInSlices, writeInSlices } from './paced-cells.ts';
import { createSuspendedAccounts, isSuspended } from './suspended-accounts.ts';
import type { SuspendedList } from './suspended-accounts.ts';

export type LiveAccountsOptions = AccountReaderOptions;

/** Accounts and the masterchain head over the pool. One upstream query for an account at a block, shared by all who ask. */
export function createLiveAccounts({ trust }: LiveAccountsOptions, { pool }: { pool: Pool }): LiveAccounts {
  const reader = createAccountReader({ trust }, { pool });
  const suspended = createSuspendedAccounts({ pool });
  /** Accounts attached to views that the pool still caches. The same view gives the same account, so derived results can be cached with it. */
  const made = createHiddenProperty<AccountView, { list: SuspendedList; value: LiveAccount }>();

  function withSuspension(view: AccountView, list: SuspendedList): LiveAccount {
    const before = made.of(view);
    if (before !== undefined && before.list === list) return before.value;
    const value = { ...view, suspended: isSuspended(list, view.account, view.shardUtime) };
    if (before === undefined) made.attach(view, { list, value });
    else Object.assign(before, { list, value });
    return value;
  }

  return {
    async readAccount(account, seqno, context) {
      const pinned = await pinBlock(pool, seqno, context);
      const [view, list] = await Promise.all([
        reader.readView(account, pinned.value, context),
        suspended.listAt(pinned.value, context),
      ]);
      return joinAnswers(withSuspension(view.value, list.value), [pinned, view, list]);
    },

    async readShardAccount(account, seqno, context) {
      const pinned = await pinBlock(pool, seqno, context);
      const cell = await reader.readShardAccount(account, pinned.value, context);
      return joinAnswers(await writeCanonical(cell.value, createTimeSlice(context.signal)), [pinned, cell]);
    },

    async readMasterchainInfo(context) {
      const head = await pool.headFor(context);
      const { block: last, stateRootHash } = head;
      const { workchain, rootHash, fileHash } = head.init;
      const init = { workchain, rootHash, fileHash };
      return { value: { last, stateRootHash, init }, liteServers: [], cached: true };
    },
  };
}

/** Writes the bag as the node would. */
async function writeCanonical(
  { table, account, lastTransaction }: OpenedShardAccount,
  timeSlice: TimeSlice,
): Promise<Buffer> {
  const store = createCellStore();
  await importInSlices(store, table, timeSlice);
  const cell = storeShardAccount(store, store.import(table, account), lastTransaction);
  return writeInSlices({ table: store, cell }, { crc32c: true }, timeSlice);
}
