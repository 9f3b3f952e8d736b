import type { InternalAddress } from '#service/decode/tlb/message-address.ts';
import type { Message } from '#service/decode/tlb/message.ts';
import type { Pool } from '#service/pool/pool.ts';
import { HISTORY_STEP_MAX, readHistoryStep } from './account-history.ts';
import type { AccountId, LiveAccounts } from '../accounts/accounts.ts';
import { joinAnswers } from '#service/contract/answer.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import { listTransactions } from './block-listing.ts';
import type { LiveBlockHeader, LiveBlocks, ShardPlace } from '../blocks/blocks.ts';
import { LiveError } from '../errors.ts';
import type { LiveTransaction, LiveTransactionList, LiveTransactions, MessageName } from './transactions.ts';

/**
 * Blocks that are searched for the delivery of a message. Delivery takes one to three blocks, and some tens more with full queues.
 * With two queries a block, a search ends well within the time of a request.
 */
const BLOCKS_MAX = 40;

/** Transactions asked for first in a block where the account may have none: the proof of a few is small. */
const FIRST_STEP = 4;

/** Transactions per query in a block after the account has shown some there. */
const NEXT_STEP = 64;

export type MessageSearchDependencies = {
  readonly pool: Pool;
  readonly accounts: LiveAccounts;
  readonly blocks: Pick<LiveBlocks, 'findBlock' | 'readHeader'>;
};

/** Finds the transactions at both ends of a message: first in the account's newest transactions, then in blocks around its lt. */
export function createMessageSearch({
  pool,
  accounts,
  blocks,
}: MessageSearchDependencies): Pick<LiveTransactions, 'findReceiver' | 'findSender'> {
  /** All transactions of an account in one block with a higher lt than this one, in order. */
  async function readAccountInBlock(
    account: AccountId,
    block: LiveBlockHeader,
    aboveLt: bigint,
    context: ReadContext,
  ): Promise<LiveAnswer<readonly LiveTransaction[]>> {
    const steps: LiveAnswer<unknown>[] = [];
    const found: LiveTransaction[] = [];
    for (let after = { account: account.id, lt: aboveLt }, goesOn = true; goesOn;) {
      const count = found.length === 0 ? FIRST_STEP : NEXT_STEP;
      const step = await listTransactions(pool, block.id, { count, after }, context);
      const own = step.value.transactions.filter((one) => isOf(one, account));
      steps.push(step);
      found.push(...own);
      const last = own.at(-1);
      if (last !== undefined) after = { account: account.id, lt: last.transaction.lt };
      goesOn = step.value.incomplete && own.length === step.value.transactions.length;
    }
    return joinAnswers(found, steps);
  }

  /** The account's newest transactions, as many as one answer holds. */
  async function readNewest(account: AccountId, context: ReadContext): Promise<LiveAnswer<Newest>> {
    const state = await accounts.readAccount(account, undefined, context);
    const { lastTransaction, shardBlock } = state.value;
    if (lastTransaction.lt > 0n) {
      const step = await readHistoryStep(pool, account, lastTransaction, HISTORY_STEP_MAX, context);
      return joinAnswers({ ...step.value, endLt: lastTransaction.lt }, [state, step]);
    }
    // The account does not exist now, but may have existed. Its blocks decide.
    const nothing = { transactions: [], previous: lastTransaction };
    if (shardBlock.workchain !== account.workchain) return { ...state, value: { ...nothing, endLt: 0n } };
    const tip = await blocks.readHeader(shardBlock, context);
    return joinAnswers({ ...nothing, endLt: tip.value.info.endLt }, [state, tip]);
  }

  return {
    async findReceiver(name, context) {
      const { destination, createdLt } = name;
      const newest = await readNewest(destination, context);
      const recent = newest.value.transactions.find((one) => isReceived(one, name));
      if (recent !== undefined) return joinAnswers(recent, [newest]);
      if (reachesDownTo(newest.value, createdLt)) throw notFound();
      const place = placeOf(destination);
      const answers: LiveAnswer<unknown>[] = [newest];
      for (let blockCount = 0, lt = createdLt; blockCount < BLOCKS_MAX && lt < newest.value.endLt; blockCount++) {
        const block = await blocks.findBlock(place, { by: 'lt', lt }, context);
        const listed = await readAccountInBlock(destination, block.value, createdLt, context);
        answers.push(block, listed);
        const found = listed.value.find((one) => isReceived(one, name));
        if (found !== undefined) return joinAnswers(found, answers);
        // The next block of the shard's path, past any split or merge.
        lt = block.value.info.endLt + 1n;
      }
      throw notFound();
    },

    async findSender(name, context) {
      const { source, createdLt } = name;
      const newest = await readNewest(source, context);
      const recent = newest.value.transactions.find((one) => isSent(one, name));
      if (recent !== undefined) return joinAnswers(recent, [newest]);
      // The sender's lt is the account's last one below the message's.
      if (reachesDownTo(newest.value, createdLt - 1n) || createdLt > newest.value.endLt) throw notFound();
      const block = await blocks.findBlock(placeOf(source), { by: 'lt', lt: createdLt }, context);
      const before = { account: source.id, lt: createdLt };
      const listed = await listTransactions(pool, block.value.id, { count: 1, after: before, reverse: true }, context);
      const found = listed.value.transactions.find((one) => isOf(one, source) && isSent(one, name));
      if (found === undefined) throw notFound();
      return joinAnswers(found, [newest, block, listed]);
    },
  };
}

type Newest = LiveTransactionList & {
  /** The account has no transaction above this lt. */
  readonly endLt: bigint;
};

/** True if all transactions above the lt are loaded. An account's first transaction may follow others of an earlier life. */
function reachesDownTo({ transactions, previous }: Newest, lt: bigint): boolean {
  return transactions.some(({ transaction }) => transaction.lt <= lt) || (previous.lt > 0n && previous.lt <= lt);
}

function isReceived({ transaction }: LiveTransaction, name: MessageName): boolean {
  const { inMessage } = transaction;
  return inMessage !== undefined && isMessage(inMessage, name);
}

function isSent({ transaction }: LiveTransaction, name: MessageName): boolean {
  return transaction.outMessages.some((message) => isMessage(message, name));
}

function isMessage({ info }: Message, { source, destination, createdLt }: MessageName): boolean {
  if (info.kind !== 'internal' || info.createdLt !== createdLt) return false;
  return isAccount(info.source, source) && isAccount(info.destination, destination);
}

function isAccount(address: InternalAddress | undefined, account: AccountId): boolean {
  return address !== undefined && address.workchain === account.workchain && address.id.equals(account.id);
}

function isOf({ transaction }: LiveTransaction, { id }: AccountId): boolean {
  return transaction.account.equals(id);
}

/** The account's place among the shards of its workchain; never 0, which is no shard. */
function placeOf({ workchain, id }: AccountId): ShardPlace {
  return { workchain, shard: id.readBigUInt64BE(0) | 1n };
}

function notFound(): LiveError {
  return new LiveError('transaction_not_found', 'transaction not found', { limit: BLOCKS_MAX, found: 0 });
}
