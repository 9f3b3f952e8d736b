import { getAccountState } from '#service/liteserver/functions.ts';
import type { Trust } from '#service/pool/options.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { PoolQueryOptions } from '#service/pool/reads.ts';
import type { AccountStateAnswer } from '#service/proof/answers.ts';
import { checkAccountState, openAccount } from '#service/proof/account-proof.ts';
import { createProvedBlockCache } from '#service/proof/proved-block-cache.ts';
import { provingInSlices, type ProvedCell } from '#service/proof/proof-cells.ts';
import { createTimeSlice, type TimeSlice } from '#service/runtime/time-slice.ts';
import {
  enclosedAccount,
  NO_TRANSACTION,
  openShardAccount,
  writeShardAccount,
  type OpenedShardAccount,
} from '#service/tvm/shard-account.ts';
import type { AccountId } from './accounts.ts';
import { viewAccount } from './account-view.ts';
import type { AccountView, FoundAccount } from './account-view.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import type { PinnedBlock } from '../pinned-block.ts';
import { hashInSlices, writeInSlices } from './paced-cells.ts';
import { readUnprovedAccount } from './unproved-account.ts';

/** An account's cell, and the time of the state that holds it. */
export type AccountCell = {
  /** BoC of `Account`; null when the state does not hold it. */
  readonly account: Buffer | null;
  /** `gen_utime` of the shard block, unix seconds; of the masterchain block in a workchain without shards. */
  readonly utime: number;
};

/**
 * Reads of accounts at a pinned block: one upstream query each, shared by all who ask for the same. Work on large accounts leaves turns to
 * other requests. Rejects as `Pool.query` does.
 */
export type AccountReader = {
  readView(account: AccountId, pinned: PinnedBlock, context: ReadContext): Promise<LiveAnswer<AccountView>>;
  readCell(account: AccountId, pinned: PinnedBlock, context: ReadContext): Promise<LiveAnswer<AccountCell>>;
  /** All readers at a block share the cells, whose hashes are computed. */
  readShardAccount(
    account: AccountId,
    pinned: PinnedBlock,
    context: ReadContext,
  ): Promise<LiveAnswer<OpenedShardAccount>>;
};

export type AccountReaderOptions = {
  /** `verified` checks every account's proof; the other two take the lite server's word for what an account is. */
  readonly trust: Trust;
};

export function createAccountReader({ trust }: AccountReaderOptions, { pool }: { pool: Pool }): AccountReader {
  const known = createProvedBlockCache();

  function find(
    account: AccountId,
    { block }: PinnedBlock,
    answer: AccountStateAnswer,
    opened: ProvedCell | undefined,
  ): FoundAccount {
    if (trust !== 'verified') return readUnprovedAccount(block, account.id, answer, opened);
    const { workchain, id } = account;
    const proved = checkAccountState({ block, workchain, account: id, known, opened }, answer);
    const shard = proved.shard && { block: proved.shard.block, utime: proved.shard.info.utime };
    return { shard, entry: proved.account };
  }

  function read<T>(
    account: AccountId,
    pinned: PinnedBlock,
    context: ReadContext,
    { view, ...options }: ViewOptions<T>,
  ): Promise<LiveAnswer<T>> {
    const args = { id: pinned.block, account };
    return pool.query(getAccountState, args, context, {
      ...options,
      immutable: true,
      check: (answer, { signal }) =>
        provingInSlices('accountState', async () => {
          const slice = createTimeSlice(signal);
          const opened = answer.state.length === 0 ? undefined : openAccount(answer.state);
          if (opened !== undefined) await hashInSlices(opened.table, slice);
          return view(find(account, pinned, answer, opened), slice);
        }),
    });
  }

  return {
    readView: (account, pinned, context) =>
      read(account, pinned, context, {
        shareAs: 'account',
        view: (found, slice) =>
          viewAccount(account, pinned, found, (root) => writeInSlices(root, { crc32c: true }, slice)),
      }),
    readCell: (account, pinned, context) =>
      read(account, pinned, context, {
        shareAs: 'account cell',
        view: async ({ shard, entry }, slice) => ({
          account: entry === undefined ? null : await writeInSlices(entry, { crc32c: true }, slice),
          utime: shard?.utime ?? pinned.utime,
        }),
      }),
    readShardAccount: (account, pinned, context) =>
      read(account, pinned, context, {
        shareAs: 'shard account',
        weigh: ({ boc, table }) => 2 * boc.length + table.size * CELL_BYTES,
        view: ({ entry }) => {
          if (entry === undefined) return openShardAccount(writeShardAccount(undefined, NO_TRANSACTION));
          const { table, cell, lastTransactionHash: hash, lastTransactionLt: lt } = entry;
          return enclosedAccount(table, cell, { hash, lt });
        },
      }),
  };
}

/** Memory of a cell of a table besides its data, with its hash. */
const CELL_BYTES = 128;

type ViewOptions<T> = Pick<PoolQueryOptions<AccountStateAnswer, T>, 'weigh'> & {
  /** Name of the view. */
  readonly shareAs: string;
  readonly view: (found: FoundAccount, slice: TimeSlice) => T | Promise<T>;
};
