import { getAccountState } from '../liteserver/functions.ts';
import type { Trust } from '../pool/options.ts';
import { PoolError } from '../pool/errors.ts';
import type { Pool } from '../pool/pool.ts';
import type { AccountStateAnswer } from '../proof/answers.ts';
import { checkAccountState } from '../proof/account-proof.ts';
import type { AccountId, LiveAccounts } from './accounts.ts';
import { viewAccount } from './account-view.ts';
import type { AccountView, FoundAccount } from './account-view.ts';
import type { LiveAnswer, ReadContext } from './answer.ts';
import { pinBlock } from './pinned-block.ts';
import type { PinnedBlock } from './pinned-block.ts';
import { createSuspendedAccounts, isSuspended } from './suspended-accounts.ts';
import { readUnprovedAccount } from './unproved-account.ts';

export type LiveAccountsOptions = {
  /** `verified` checks every account's proof; the other two take the lite server's word for what an account is. */
  readonly trust: Trust;
};

/** Accounts and the masterchain head over the pool. One upstream query for an account at a block, shared by all who ask. */
export function createLiveAccounts({ trust }: LiveAccountsOptions, { pool }: { pool: Pool }): LiveAccounts {
  const suspended = createSuspendedAccounts({ pool });

  function findAccount(account: AccountId, { block }: PinnedBlock, answer: AccountStateAnswer): FoundAccount {
    if (trust !== 'verified') return readUnprovedAccount(block, account.id, answer);
    const proved = checkAccountState({ block, workchain: account.workchain, account: account.id }, answer);
    const shard = proved.shard && { block: proved.shard.block, utime: proved.shard.info.utime };
    return { shard, entry: proved.account };
  }

  function readView(account: AccountId, pinned: PinnedBlock, context: ReadContext): Promise<LiveAnswer<AccountView>> {
    const args = { id: pinned.block, account };
    return pool.query(getAccountState, args, context, {
      shareAs: 'account',
      immutable: true,
      masterchainSeqno: pinned.block.seqno,
      check: (answer) => viewAccount(account, pinned, findAccount(account, pinned, answer)),
    });
  }

  return {
    async readAccount(account, seqno, context) {
      const pinned = await pinBlock(pool, seqno, context);
      const [view, list] = await Promise.all([
        readView(account, pinned.value, context),
        suspended.listAt(pinned.value, context),
      ]);
      const value = { ...view.value, suspended: isSuspended(list.value, account, view.value.shardUtime) };
      const answers = [pinned, view, list];
      return {
        value,
        liteServers: [...new Set(answers.flatMap(({ liteServers }) => liteServers))],
        cached: answers.every(({ cached }) => cached),
      };
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
