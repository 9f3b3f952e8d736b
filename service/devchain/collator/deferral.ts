import type { MessageMetadata } from '#service/decode/tlb/msg-envelope.ts';
import type { DeferredMessage, DispatchQueue } from './dispatch-queue.ts';

/** Number of the first deferred message that an account sends in a block. The first message of each transaction is not counted. */
const DEFER_FROM = 10;

/** Messages in the shard's queue above which only the first of each transaction is not deferred. Then no deferred message has its turn. */
const QUEUE_MAX = 2048n;

/** Limits of the second round: messages in all, and of one chain of messages. In the first round, each account has one turn. */
const SECOND_ROUND = { total: 150, ofInitiator: 20 };
const THIRD_ROUND_TOTAL = 150;

/** Returns the limit for one chain of messages in the third round, by the length of the shard's queue. */
function thirdRoundOfInitiator(queueSize: bigint): number {
  if (queueSize <= 256n) return 10;
  if (queueSize <= 512n) return 2;
  return queueSize <= 1500n ? 1 : 0;
}

/** Decides which messages are deferred, and the order that results in a block. */
export type Deferral = {
  /**
   * Returns true when a new message is deferred. Call it in the order of delivery.
   * @param index its position among the messages of its transaction
   */
  mustWait(source: Buffer, index: number, queueSize: bigint): boolean;
  /** A message leaves the dispatch queue: the lt that it has from now on. */
  emit(source: Buffer): bigint;
  /** A message that left the dispatch queue has its turn. */
  settle(source: Buffer): void;
  /** Lt of the account's last message that left the dispatch queue, or 0. Later actions of the account come after it. */
  emittedLt(account: Buffer): bigint;
};

export type DeferralOptions = {
  /** `capDeferMessages`. */
  readonly enabled: boolean;
  readonly startLt: bigint;
  /** Accounts of the masterchain that never wait, but behind their own messages. */
  readonly specials: readonly Buffer[];
};

export function createDeferral(queue: DispatchQueue, { enabled, startLt, specials }: DeferralOptions): Deferral {
  const sent = new Map<string, number>();
  const emitted = new Map<string, bigint>();
  const onTheirWay = new Map<string, number>();
  return {
    mustWait(source, index, queueSize) {
      const isCounted = enabled && index > 0 && !specials.some((id) => id.equals(source));
      const isLate = isCounted && (count(sent, keyOf(source), 1) >= DEFER_FROM || queueSize > QUEUE_MAX);
      return isLate || (onTheirWay.get(keyOf(source)) ?? 0) > 0 || queue.has(source);
    },
    emit(source) {
      const key = keyOf(source);
      const last = emitted.get(key) ?? startLt;
      emitted.set(key, last + 1n);
      count(sent, key, 1);
      count(onTheirWay, key, 1);
      return last + 1n;
    },
    settle(source) {
      count(onTheirWay, keyOf(source), -1);
    },
    emittedLt: (account) => emitted.get(keyOf(account)) ?? 0n,
  };
}

/** Deferred messages with a turn at the start of a block, in their order of leaving the dispatch queue. */
export type Turns = {
  readonly messages: readonly DeferredMessage[];
  /** More messages wait than a block takes, so the block counts as heavy. */
  readonly isLimited: boolean;
};

export const NO_TURNS: Turns = { messages: [], isLimited: false };

type Account = { readonly source: Buffer; taken: number; next: DeferredMessage | undefined };

/**
 * Chooses deferred messages as the node does, in three rounds. In each round the account with the oldest message comes first. The first
 * round takes one message of each account. The second takes up to ten of an account. The third takes as many as the shard's queue has room
 * for. Returns none while that queue is full.
 */
export function chooseTurns(queue: DispatchQueue, queueSize: bigint): Turns {
  if (queueSize > QUEUE_MAX) return NO_TURNS;
  const messages: DeferredMessage[] = [];
  function take(account: Account): DeferredMessage {
    const message = account.next!;
    messages.push(message);
    account.taken++;
    account.next = queue.list(account.source, account.taken + 1)[account.taken];
    return message;
  }
  const accounts: Account[] = queue
    .accounts()
    .toSorted((one, other) => (one.lt === other.lt ? 0 : one.lt < other.lt ? -1 : 1))
    .map(({ source }) => ({ source, taken: 0, next: queue.list(source, 1)[0] }));
  accounts.forEach(take);
  const rounds = [
    { ...SECOND_ROUND, ofAccount: DEFER_FROM },
    { total: THIRD_ROUND_TOTAL, ofInitiator: thirdRoundOfInitiator(queueSize), ofAccount: Number.POSITIVE_INFINITY },
  ];
  let isLimited = false;
  for (const { total, ofInitiator, ofAccount } of rounds) {
    if (ofInitiator === 0) continue;
    const active = new Set(accounts.filter(({ next }) => next !== undefined));
    const initiators = new Map<string, number>();
    for (let taken = 0; taken < total && active.size > 0; taken++) {
      const account = [...active].reduce((least, one) => (one.next!.lt < least.next!.lt ? one : least));
      const { metadata } = take(account).envelope;
      const isEnough = countInitiator(initiators, metadata) >= ofInitiator || account.taken >= ofAccount;
      if (isEnough || account.next === undefined) active.delete(account);
      if (taken + 1 === total) isLimited = true;
    }
  }
  return { messages, isLimited };
}

function keyOf(id: Buffer): string {
  return id.toString('latin1');
}

/** Adds to a count and returns the sum. */
function count(counts: Map<string, number>, key: string, more: number): number {
  const next = (counts.get(key) ?? 0) + more;
  counts.set(key, next);
  return next;
}

function countInitiator(counts: Map<string, number>, metadata: MessageMetadata | undefined): number {
  if (metadata === undefined) return 0;
  const { workchain, id } = metadata.initiator;
  return count(counts, `${workchain}:${keyOf(id)}:${metadata.initiatorLt}`, 1);
}
