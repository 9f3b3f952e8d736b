import type { MessageMetadata } from '#service/decode/tlb/msg-envelope.ts';
import type { DeferredMessage, DispatchQueue } from './dispatch-queue.ts';

/** From this one on, messages that an account sends in a block wait for the next blocks; the first of each transaction is not counted. */
const DEFER_FROM = 10;

/** Messages in the queue of the shard above which all but the first of each transaction wait, and none has its turn. */
const QUEUE_MAX = 2048n;

/** Rounds after the first, in which each account has one turn: messages in all, and of one chain of messages. */
const SECOND_ROUND = { total: 150, ofInitiator: 20 };
const THIRD_ROUND_TOTAL = 150;

/** Messages of one chain of messages in the third round, by how many are in the queue of the shard. */
function thirdRoundOfInitiator(queueSize: bigint): number {
  if (queueSize <= 256n) return 10;
  if (queueSize <= 512n) return 2;
  return queueSize <= 1500n ? 1 : 0;
}

/** Which messages wait, and what comes of it for the order of things in a block. */
export type Deferral = {
  /**
   * Says of a new message, in the order in which they are delivered, whether it has to wait.
   * @param index its place among the messages of its transaction
   */
  mustWait(source: Buffer, index: number, queueSize: bigint): boolean;
  /** A message leaves the dispatch queue: the lt that it has from now on. */
  emit(source: Buffer): bigint;
  /** A message that left the dispatch queue has its turn. */
  settle(source: Buffer): void;
  /** What an account does comes after its messages that left the dispatch queue; 0 when none did. */
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

/** Messages whose turn it is at the start of a block, in the order in which they leave the dispatch queue. */
export type Turns = {
  readonly messages: readonly DeferredMessage[];
  /** More wait than a block takes: it counts as a heavy one. */
  readonly isLimited: boolean;
};

export const NO_TURNS: Turns = { messages: [], isLimited: false };

type Account = { readonly source: Buffer; taken: number; next: DeferredMessage | undefined };

/**
 * Chooses them as the node does, in three rounds, in each of which the account with the oldest message comes first: one of each account; up to ten of an
 * account; as many as the queue of the shard has room for. None while that is full.
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

/** Adds to a count, and gives it. */
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
