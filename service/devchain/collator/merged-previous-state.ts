import type { CellStore } from '#service/decode/cell-store.ts';
import { cutHashmap, joinHashmaps, updateHashmap } from '#service/decode/hashmap-writer.ts';
import { shardChildren, shardParent, shardPrefixBits } from '#service/decode/shard.ts';
import { addCurrencies, onlyGrams } from '#service/decode/tlb/currency-collection.ts';
import { depthBalanceAugmentation } from '#service/decode/tlb/depth-balance-info.ts';
import { leastLtAugmentation, writeEnqueuedMessage } from '#service/decode/tlb/out-msg-queue-info.ts';
import type { ShardIdent } from '#service/decode/tlb/shard-ident.ts';
import { addSplitState } from '#service/decode/tlb/shard-state.ts';
import type { PreviousState, QueueBefore } from './previous-state.ts';
import { openPreviousState } from './previous-state.ts';
import { DISPATCH_SHAPE } from './dispatch-queue.ts';
import { storeShardAccounts } from './state-edits.ts';
import type { QueuedMessage } from './out-queue.ts';
import { QUEUE_KEY_BITS, listWholeQueue } from './out-queue.ts';
import { mergeProcessed, splitProcessed } from './processed-upto.ts';
import { containsPlace } from './routing.ts';

const ACCOUNTS = { bits: 256, augmentation: depthBalanceAugmentation };
const QUEUE = { bits: QUEUE_KEY_BITS, augmentation: leastLtAugmentation };

/** Opens a chain's state before its next block: the previous block's state, a half of it, or both halves together. */
export function openPrevious(
  states: CellStore,
  shard: ShardIdent,
  previous: readonly { readonly state: number }[],
): PreviousState {
  const [first, second] = previous.map(({ state }) => openPreviousState(states, state));
  if (second !== undefined) return mergeStates(states, shard, first!, second);
  return first!.shard === shard.shard ? first! : splitState(states, shard, first!);
}

/** The half of a state that a shard gets (`ShardState::split`). */
function splitState(states: CellStore, shard: ShardIdent, whole: PreviousState): PreviousState {
  const [left, right] = shardChildren(whole.shard);
  if (!whole.beforeSplit || (shard.shard !== left && shard.shard !== right)) {
    throw new Error('the state before is not one that is split into this shard');
  }
  const isRight = shard.shard === right;
  const sibling = { workchain: shard.workchain, shard: isRight ? left : right };
  const prefix = Buffer.alloc(32);
  prefix.writeBigUInt64BE(shard.shard);
  const bits = shardPrefixBits(shard.shard);
  const root = cutHashmap(states, whole.accountsRoot, ACCOUNTS, prefix, bits);
  const accounts = storeShardAccounts(states, root);
  const messages = listWholeQueue(states, whole.queue);
  return {
    ...whole,
    ...shard,
    ...queueOf(states, whole, shard, messages),
    accountsRoot: root,
    accounts: accounts.cell,
    totalBalance: accounts.balance,
    totalValidatorFees: onlyGrams((whole.totalValidatorFees.grams + (isRight ? 1n : 0n)) >> 1n),
    dispatch: cutHashmap(states, whole.dispatch, DISPATCH_SHAPE, prefix, bits),
    overloadHistory: 0n,
    underloadHistory: 0n,
    sibling: queueOf(states, whole, sibling, messages),
  };
}

/** The part of a queue whose messages are in the half. */
function queueOf(
  states: CellStore,
  { queue, processed }: PreviousState,
  half: ShardIdent,
  messages: readonly QueuedMessage[],
): QueueBefore {
  const others = messages.filter(({ current }) => !containsPlace(half, current));
  const changes = others.map(({ key }) => ({ key, write: undefined }));
  return {
    queue: updateHashmap(states, queue, QUEUE, changes),
    size: BigInt(messages.length - others.length),
    processed: splitProcessed(processed, half),
  };
}

/** Merges both halves (`ShardState::merge_with`). */
function mergeStates(states: CellStore, shard: ShardIdent, left: PreviousState, right: PreviousState): PreviousState {
  if (shardParent(left.shard) !== shard.shard || left.shard >= right.shard) {
    throw new Error('the states before are not the halves of this shard');
  }
  const root = joinHashmaps(states, left.accountsRoot, right.accountsRoot, ACCOUNTS);
  const accounts = storeShardAccounts(states, root);
  const messages = listWholeQueue(states, right.queue).map(({ key, lt, enqueuedLt, envelopeCell }) => ({
    key,
    write: (writer: Parameters<typeof writeEnqueuedMessage>[0]): void => {
      writeEnqueuedMessage(writer.int(lt, 64), { enqueuedLt, envelope: envelopeCell });
    },
  }));
  return {
    ...left,
    ...shard,
    root: addSplitState(states, left.root, right.root),
    lt: left.lt > right.lt ? left.lt : right.lt,
    utime: Math.max(left.utime, right.utime),
    accountsRoot: root,
    accounts: accounts.cell,
    totalBalance: accounts.balance,
    totalValidatorFees: addCurrencies(states, left.totalValidatorFees, right.totalValidatorFees),
    queue: updateHashmap(states, left.queue, QUEUE, messages),
    size: left.size + right.size,
    processed: mergeProcessed(left.processed, right.processed, shard),
    dispatch: joinHashmaps(states, left.dispatch, right.dispatch, DISPATCH_SHAPE),
    overloadHistory: 0n,
    underloadHistory: 0n,
  };
}
