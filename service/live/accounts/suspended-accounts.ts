import type { BlockId } from '#service/decode/block-id.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { findConfigParam } from '#service/decode/tlb/config-params.ts';
import { listsAddress, readSuspendedAddresses } from '#service/decode/tlb/suspended-addresses.ts';
import type { SuspendedAddresses } from '#service/decode/tlb/suspended-addresses.ts';
import { getConfigParams } from '#service/liteserver/functions.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { ConfigInfoAnswer } from '#service/proof/answers.ts';
import { checkConfig } from '#service/proof/config-proof.ts';
import { proving } from '#service/proof/proof-cells.ts';
import type { AccountId } from './accounts.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import type { PinnedBlock } from '../pinned-block.ts';

/** Config parameter 44 as of one key block; undefined where it is not set. */
export type SuspendedList = { readonly table: CellTable; readonly list: SuspendedAddresses } | undefined;

const SUSPENDED_ADDRESSES = 44;

/** Cached lists of key blocks. Heads need one, reads at old seqnos some more. A list has some kilobytes. */
const LISTS_MAX = 64;

/** Reads of parameter 44: one upstream query for each key block, since the configuration changes with key blocks alone. */
export type SuspendedAccounts = {
  /** The list that holds in the block. Rejects as `Pool.query` does. */
  listAt(pinned: PinnedBlock, context: ReadContext): Promise<LiveAnswer<SuspendedList>>;
};

export function createSuspendedAccounts(dependencies: { pool: Pool }): SuspendedAccounts {
  const lists = new Map<number, SuspendedList>();

  return {
    async listAt({ block, keyBlockSeqno }, context) {
      if (lists.has(keyBlockSeqno)) return { value: lists.get(keyBlockSeqno), liteServers: [], cached: true };
      const args = { mode: 0, id: block, paramList: [SUSPENDED_ADDRESSES] };
      const { value, liteServers } = await dependencies.pool.query(getConfigParams, args, context, {
        shareAs: 'suspended accounts',
        check: (answer) => proving('configInfo', () => ({ found: readList(block, answer) })),
      });
      lists.set(keyBlockSeqno, value.found);
      const [oldest] = lists.keys();
      if (lists.size > LISTS_MAX && oldest !== undefined) lists.delete(oldest);
      return { value: value.found, liteServers, cached: false };
    },
  };
}

function readList(block: BlockId, answer: ConfigInfoAnswer): SuspendedList {
  const { table, config } = checkConfig({ block, mode: 0, params: [SUSPENDED_ADDRESSES] }, answer);
  const cell = findConfigParam(table, config.root, SUSPENDED_ADDRESSES);
  return cell === undefined ? undefined : { table, list: readSuspendedAddresses(table, cell) };
}

/** Listed, and the list holds at the time. @param utime unix seconds */
export function isSuspended(list: SuspendedList, account: AccountId, utime: number): boolean {
  return list !== undefined && list.list.suspendedUntil > utime && listsAddress(list.table, list.list, account);
}
