import { PoolError } from '../pool/errors.ts';
import type { Pool } from '../pool/pool.ts';
import { createAccountReader } from './account-reader.ts';
import type { AccountReaderOptions } from './account-reader.ts';
import type { LiveAccounts } from './accounts.ts';
import { joinAnswers } from './answer.ts';
import { pinBlock } from './pinned-block.ts';
import { createSuspendedAccounts, isSuspended } from './suspended-accounts.ts';

export type LiveAccountsOptions = AccountReaderOptions;

/** Accounts and the masterchain head over the pool. One upstream query for an account at a block, shared by all who ask. */
export function createLiveAccounts({ trust }: LiveAccountsOptions, { pool }: { pool: Pool }): LiveAccounts {
  const reader = createAccountReader({ trust }, { pool });
  const suspended = createSuspendedAccounts({ pool });

  return {
    async readAccount(account, seqno, context) {
      const pinned = await pinBlock(pool, seqno, context);
      const [view, list] = await Promise.all([
        reader.readView(account, pinned.value, context),
        suspended.listAt(pinned.value, context),
      ]);
      const value = { ...view.value, suspended: isSuspended(list.value, account, view.value.shardUtime) };
      return joinAnswers(value, [pinned, view, list]);
    },

    async readShardAccount(account, seqno, context) {
      const pinned = await pinBlock(pool, seqno, context);
      const cell = await reader.readShardAccount(account, pinned.value, context);
      return joinAnswers(cell.value, [pinned, cell]);
    },

    async readMasterchainInfo() {
      const head = pool.head();
      if (head === undefined) throw new PoolError('no_lite_server');
      const { block: last, stateRootHash } = head;
      const { workchain, rootHash, fileHash } = head.init;
      const init = { workchain, rootHash, fileHash };
      return { value: { last, stateRootHash, init }, liteServers: [], cached: true };
    },
  };
}
