import { writeBoc } from '#service/decode/boc-writer.ts';
import { getAccountState } from '#service/liteserver/functions.ts';
import type { Trust } from '#service/pool/options.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { AccountStateAnswer } from '#service/proof/answers.ts';
import { checkAccountState } from '#service/proof/account-proof.ts';
import { createProvedBlockCache } from '#service/proof/proved-block-cache.ts';
import { proving } from '#service/proof/proof-cells.ts';
import { NO_TRANSACTION, writeShardAccount } from '#service/tvm/shard-account.ts';
import type { AccountId } from './accounts.ts';
import { viewAccount } from './account-view.ts';
import type { AccountView, FoundAccount } from './account-view.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import type { PinnedBlock } from '../pinned-block.ts';
import { readUnprovedAccount } from './unproved-account.ts';

/** An account's cell, and the time of the state that holds it. */
export type AccountCell = {
  /** BoC of `Account`; null when the state does not hold it. */
  readonly account: Buffer | null;
  /** `gen_utime` of the shard block, unix seconds; of the masterchain block in a workchain without shards. */
  readonly utime: number;
};

/** Reads of accounts at a pinned block: one upstream query each, shared by all who ask for the same. Rejects as `Pool.query` does. */
export type AccountReader = {
  readView(account: AccountId, pinned: PinnedBlock, context: ReadContext): Promise<LiveAnswer<AccountView>>;
  readCell(account: AccountId, pinned: PinnedBlock, context: ReadContext): Promise<LiveAnswer<AccountCell>>;
  /** BoC of `ShardAccount`. */
  readShardAccount(account: AccountId, pinned: PinnedBlock, context: ReadContext): Promise<LiveAnswer<Buffer>>;
};

export type AccountReaderOptions = {
  /** `verified` checks every account's proof; the other two take the lite server's word for what an account is. */
  readonly trust: Trust;
};

export function createAccountReader({ trust }: AccountReaderOptions, { pool }: { pool: Pool }): AccountReader {
  const known = createProvedBlockCache();

  function find(account: AccountId, { block }: PinnedBlock, answer: AccountStateAnswer): FoundAccount {
    if (trust !== 'verified') return readUnprovedAccount(block, account.id, answer);
    const proved = checkAccountState({ block, workchain: account.workchain, account: account.id, known }, answer);
    const shard = proved.shard && { block: proved.shard.block, utime: proved.shard.info.utime };
    return { shard, entry: proved.account };
  }

  function read<T>(
    account: AccountId,
    pinned: PinnedBlock,
    context: ReadContext,
    { shareAs, view }: { shareAs: string; view: (found: FoundAccount) => T },
  ): Promise<LiveAnswer<T>> {
    const args = { id: pinned.block, account };
    return pool.query(getAccountState, args, context, {
      shareAs,
      immutable: true,
      check: (answer) => proving('accountState', () => view(find(account, pinned, answer))),
    });
  }

  return {
    readView: (account, pinned, context) =>
      read(account, pinned, context, {
        shareAs: 'account',
        view: (found) => viewAccount(account, pinned, found),
      }),
    readCell: (account, pinned, context) =>
      read(account, pinned, context, {
        shareAs: 'account cell',
        view: ({ shard, entry }) => ({
          account: entry === undefined ? null : writeBoc(entry.table, [entry.cell], { crc32c: true }),
          utime: shard?.utime ?? pinned.utime,
        }),
      }),
    readShardAccount: (account, pinned, context) =>
      read(account, pinned, context, {
        shareAs: 'shard account',
        view: ({ entry }) =>
          entry === undefined
            ? writeShardAccount(undefined, NO_TRANSACTION)
            : writeShardAccount(entry, { hash: entry.lastTransactionHash, lt: entry.lastTransactionLt }),
      }),
  };
}
