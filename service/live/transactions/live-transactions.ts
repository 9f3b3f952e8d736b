import type { BlockId } from '#service/decode/block-id.ts';
import type { Pool } from '#service/pool/pool.ts';
import { HISTORY_STEP_MAX, readHistoryStep } from './account-history.ts';
import type { AccountId, LiveAccounts } from '../accounts/accounts.ts';
import { joinAnswers } from '#service/contract/answer.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import { requireArchive } from '../archive.ts';
import { LISTING_STEP_MAX, listNames, listTransactions } from './block-listing.ts';
import type { ListingStep } from './block-listing.ts';
import type { LiveBlocks } from '../blocks/blocks.ts';
import { createMessageSearch } from './message-search.ts';
import type {
  BlockListing,
  BlockName,
  BlockTransactionRange,
  LiveTransaction,
  LiveTransactionList,
  LiveTransactions,
  TransactionName,
  TransactionPlace,
  TransactionRange,
} from './transactions.ts';

export type LiveTransactionsDependencies = {
  readonly pool: Pool;
  readonly accounts: LiveAccounts;
  readonly blocks: Pick<LiveBlocks, 'findBlock' | 'readHeader'>;
};

/** Query of a listing, bound to its block. */
type AskListing<T> = (range: BlockTransactionRange) => Promise<LiveAnswer<ListingStep<T>>>;

const beforeTheFirst: TransactionPlace = { lt: 0n, hash: Buffer.alloc(32) };

/** Transactions over the pool. Long lists are read in steps; the previous step or the block proves each step. */
export function createLiveTransactions(dependencies: LiveTransactionsDependencies): LiveTransactions {
  const { pool, accounts, blocks } = dependencies;

  /** The newest wanted transaction: the given one, or the account's last one at the served head. */
  async function findStart(
    account: AccountId,
    from: TransactionPlace | undefined,
    context: ReadContext,
  ): Promise<LiveAnswer<TransactionPlace>> {
    if (from !== undefined) return { value: from, liteServers: [], cached: true };
    const answer = await accounts.readAccount(account, undefined, context);
    return { ...answer, value: answer.value.lastTransaction };
  }

  async function readTransactions(
    account: AccountId,
    { from, limit, toLt, archival }: TransactionRange,
    context: ReadContext,
  ): Promise<LiveAnswer<LiveTransactionList>> {
    if (archival) requireArchive(pool);
    const start = await findStart(account, from, context);
    const steps: LiveAnswer<LiveTransactionList>[] = [];
    const transactions: LiveTransaction[] = [];
    let next = start.value;
    while (transactions.length < limit && next.lt > toLt) {
      const count = Math.min(HISTORY_STEP_MAX, limit - transactions.length);
      const step = await readHistoryStep(pool, account, next, count, context);
      const wanted = step.value.transactions.filter(({ transaction }) => transaction.lt > toLt);
      const last = wanted.at(-1);
      steps.push(step);
      transactions.push(...wanted);
      if (last !== undefined) next = { lt: last.transaction.prevLt, hash: last.transaction.prevHash };
    }
    const previous = next.lt === 0n ? beforeTheFirst : next;
    return joinAnswers({ transactions, previous }, [start, ...steps]);
  }

  /** The block's full id, proved to be of the network. */
  async function nameBlock(block: BlockName, context: ReadContext): Promise<LiveAnswer<BlockId>> {
    const { workchain, shard, seqno, hashes } = block;
    const answer =
      hashes === undefined
        ? await blocks.findBlock({ workchain, shard }, { by: 'seqno', seqno }, context)
        : await blocks.readHeader({ workchain, shard, seqno, ...hashes }, context);
    return { ...answer, value: answer.value.id };
  }

  return {
    readTransactions,

    async listBlock(name, range, context) {
      const block = await nameBlock(name, context);
      const listing = await walkListing(range, (step) => listNames(pool, block.value, step, context), nameOf);
      return joinAnswers({ block: block.value, ...listing.value }, [block, listing]);
    },

    async readBlockTransactions(name, range, context) {
      const block = await nameBlock(name, context);
      const ask: AskListing<LiveTransaction> = (step) => listTransactions(pool, block.value, step, context);
      const listing = await walkListing(range, ask, ({ transaction }) => transaction);
      return joinAnswers({ block: block.value, ...listing.value }, [block, listing]);
    },

    ...createMessageSearch(dependencies),
  };
}

/**
 * Requests one transaction more than wanted if it fits into an answer, so that `incomplete` is exact.
 * A lite server reports incomplete whenever there were enough, even if nothing follows.
 */
async function walkListing<T>(
  range: BlockTransactionRange,
  ask: AskListing<T>,
  placeOf: (item: T) => { readonly account: Buffer; readonly lt: bigint },
): Promise<LiveAnswer<Omit<BlockListing<T>, 'block'>>> {
  const steps: LiveAnswer<ListingStep<T>>[] = [];
  const items: T[] = [];
  let { after } = range;
  let incomplete = true;
  while (incomplete && items.length <= range.count) {
    const count = Math.min(LISTING_STEP_MAX, range.count + 1 - items.length);
    const step = await ask({ count, after });
    steps.push(step);
    items.push(...step.value.transactions);
    const last = items.at(-1);
    // An answer that promises more but has no transactions cannot pass its check.
    if (last !== undefined) after = { account: placeOf(last).account, lt: placeOf(last).lt };
    incomplete = step.value.incomplete;
  }
  return joinAnswers({ transactions: items.slice(0, range.count), incomplete: items.length > range.count }, steps);
}

function nameOf(name: TransactionName): TransactionName {
  return name;
}
