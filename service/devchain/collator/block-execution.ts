import { BitWriter } from '#service/decode/bit-writer.ts';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { writeCurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import type { CurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import type { InMsg } from '#service/decode/tlb/in-msg.ts';
import { storeInMsg } from '#service/decode/tlb/in-msg.ts';
import type { InternalInfo } from '#service/decode/tlb/message.ts';
import { writeStandardAddress } from '#service/decode/tlb/message-address.ts';
import { readMessage } from '#service/decode/tlb/message.ts';
import type { MessageMetadata } from '#service/decode/tlb/msg-envelope.ts';
import { storeMessageEnvelope } from '#service/decode/tlb/msg-envelope.ts';
import type { ShardIdent } from '#service/decode/tlb/shard-ident.ts';
import type { Transaction } from '#service/decode/tlb/transaction.ts';
import type { BlockAccounts, Execution } from './accounts.ts';
import type { Deferral } from './deferral.ts';
import type { Descriptors } from './descriptors.ts';
import type { DeferredMessage, DispatchQueue } from './dispatch-queue.ts';
import type { Work } from './executor.ts';
import { bocText, importBoc } from './executor.ts';
import type { ExternalMessage, ExternalOutcome } from './external-message.ts';
import type { Arrival } from './neighbors.ts';
import { createNewMessages } from './new-messages.ts';
import type { NewMessage } from './new-messages.ts';
import type { OutQueue, QueuedMessage } from './out-queue.ts';
import { placeOf } from './out-queue.ts';
import { PLACE_BITS, between, containsPlace, nextStep } from './routing.ts';

/** Transactions of one block, in the node's order. */
export type BlockExecution = {
  tickTock(kind: 'tick' | 'tock', accounts: readonly Buffer[]): void;
  /** Credits money without a sender to an account. Returns the cell of its `InMsg`. */
  special(amount: CurrencyCollection, destination: Buffer): number;
  /**
   * Takes a message out of a queue, this shard's own or another's. Delivers it to its account, or moves it one step on. A message that was
   * taken already is only recorded.
   */
  arrive(arrival: Arrival): void;
  external(message: ExternalMessage): ExternalOutcome;
  /** Takes a message out of the dispatch queue: it comes among the new ones. */
  emit(message: DeferredMessage): void;
  /** Delivers the first new message, or queues it. False when there is none. */
  deliverNew(): boolean;
  /** From now on all new messages are queued. */
  fill(): void;
  /** Takes the note of a message that was delivered elsewhere out of the queue. */
  dequeue(message: QueuedMessage, importLt: bigint): void;
  readonly transactions: number;
  /** Gas of all transactions except the turns of special accounts. */
  readonly gas: number;
  readonly endLt: bigint;
  /** The last internal message that was delivered. */
  readonly lastDelivered: { readonly lt: bigint; readonly hash: Buffer } | undefined;
  /** Nanotons that were sent to the black hole. */
  readonly burned: bigint;
};

export type BlockExecutionOptions = {
  readonly shard: ShardIdent;
  readonly startLt: bigint;
  readonly firstEndLt: bigint;
  readonly utime: number;
  /** `capMsgMetadata`: envelopes name the initiator of a chain of messages. */
  readonly withMetadata: boolean;
  /** `capShortDequeue`. */
  readonly shortDequeue: boolean;
  readonly blackhole: Buffer | undefined;
  /** Part of a forward fee that each shard on the way takes, of 65536. */
  readonly nextFraction: bigint;
};

export type BlockExecutionParts = {
  /** The block's store. */
  readonly cells: CellStore;
  readonly states: CellStore;
  readonly accounts: BlockAccounts;
  readonly descriptors: Descriptors;
  readonly queue: OutQueue;
  readonly dispatch: DispatchQueue;
  readonly deferral: Deferral;
};

export function createBlockExecution(options: BlockExecutionOptions, parts: BlockExecutionParts): BlockExecution {
  const { shard, startLt, utime } = options;
  const { cells, states, accounts, descriptors, queue, dispatch, deferral } = parts;
  const newMessages = createNewMessages();
  let [endLt, transactions, gas, burned, isFull] = [options.firstEndLt, 0, 0, 0n, false];
  let lastDelivered: BlockExecution['lastDelivered'];

  /** Notes a transaction and the messages that it sent. */
  function note(done: Extract<Execution, { kind: 'done' }>, metadata: MessageMetadata | undefined): Transaction {
    const { transaction } = done;
    const { descr } = transaction;
    transactions++;
    if (descr.kind === 'ordinary' && descr.compute.kind === 'vm') gas += descr.compute.gasUsed;
    endLt = later(endLt, done.endLt);
    for (const [index, { cell, info }] of transaction.outMessages.entries()) {
      const hash = cells.hash(cell);
      if (info.kind === 'externalOut') {
        descriptors.addOut(hash, { kind: 'external', message: cell, transaction: transaction.cell });
      } else if (info.kind === 'internal') {
        const own = options.withMetadata ? metadata : undefined;
        const origin = { transaction: transaction.cell };
        const { createdLt: lt, forwardFee } = info;
        newMessages.add({ lt, hash, cell, info, origin, index, forwardFee, metadata: own });
      }
    }
    return transaction;
  }

  function begin(id: Buffer, lt: bigint): MessageMetadata {
    return { mode: 0, depth: 0, initiator: { workchain: shard.workchain, id }, initiatorLt: lt };
  }

  function mustRun(id: Buffer, message: Work['message'], lt: bigint): Extract<Execution, { kind: 'done' }> {
    const outcome = accounts.run(id, message, lt);
    if (outcome.kind === 'done') return outcome;
    throw new Error(`a transaction of ${shard.workchain}:${id.toString('hex')} cannot be made: ${outcome.error}`);
  }

  /** The least lt of an account's transaction that comes after something. */
  function firstLt(id: Buffer, afterLt: bigint): bigint {
    return later(later(startLt, afterLt), deferral.emittedLt(id)) + 1n;
  }

  function receive(info: InternalInfo, cell: number, afterLt: bigint): Extract<Execution, { kind: 'done' }> {
    const { id } = info.destination;
    const isBlackhole = options.blackhole?.equals(id) === true && shard.workchain === MASTERCHAIN;
    const before = isBlackhole ? accounts.balanceOf(id) : 0n;
    const done = mustRun(id, { boc: bocText(cells, cell) }, firstLt(id, afterLt));
    if (isBlackhole) burned += before + info.value.grams - accounts.balanceOf(id) - done.transaction.totalFees.grams;
    return done;
  }

  function deliver(message: { readonly lt: bigint; readonly hash: Buffer }): void {
    if (lastDelivered !== undefined && !isBefore(lastDelivered, message)) {
      throw new Error('a message comes after one that was sent later');
    }
    lastDelivered = { lt: message.lt, hash: Buffer.from(message.hash) };
  }

  /** Puts a message that is not delivered here and now into the queue of the shard. */
  function enqueue({ cell, hash, lt, info, origin, forwardFee, metadata }: NewMessage): void {
    const [source, destination] = [placeOf(info.source!), placeOf(info.destination)];
    const route = nextStep(source, destination, shard);
    const emittedLt = 'waited' in origin ? lt : undefined;
    const outEnvelope = storeMessageEnvelope(cells, {
      ...route,
      forwardFeeRemaining: forwardFee,
      message: cell,
      emittedLt,
      metadata,
    });
    if ('waited' in origin) {
      const inMsg: InMsg = { kind: 'deferredTransit', envelope: origin.waited, outEnvelope };
      descriptors.addIn(inMsg);
      descriptors.addOut(hash, { kind: 'deferredTransit', envelope: outEnvelope, imported: storeInMsg(cells, inMsg) });
    } else {
      descriptors.addOut(hash, { kind: 'new', envelope: outEnvelope, transaction: origin.transaction });
    }
    queue.add({ next: between(source, destination, route.nextBits), hash, lt, enqueuedLt: lt, envelope: outEnvelope });
  }

  /** Puts a new message behind the others of its sender. */
  function defer({ cell, hash, lt, info, forwardFee, metadata }: NewMessage, transaction: number): void {
    const envelope = storeMessageEnvelope(cells, {
      currentBits: 0,
      nextBits: 0,
      forwardFeeRemaining: forwardFee,
      message: cell,
      emittedLt: undefined,
      metadata,
    });
    descriptors.addOut(hash, { kind: 'deferred', envelope, transaction });
    dispatch.add(info.source!.id, lt, envelope);
  }

  function storeEnvelope(cell: number, info: InternalInfo, metadata: MessageMetadata | undefined): number {
    return storeMessageEnvelope(cells, {
      currentBits: PLACE_BITS,
      nextBits: PLACE_BITS,
      forwardFeeRemaining: info.forwardFee,
      message: cell,
      emittedLt: undefined,
      metadata,
    });
  }

  /** Sends a message for another shard one step on. */
  function passOn(message: QueuedMessage, old: number, own: boolean): void {
    const { envelope, destination, next } = message;
    const route = nextStep(next, destination, shard);
    const transitFee = (envelope.forwardFeeRemaining * options.nextFraction) >> 16n;
    const outEnvelope = storeMessageEnvelope(cells, {
      ...envelope,
      ...route,
      message: states === cells ? envelope.message : cells.import(states, envelope.message),
      forwardFeeRemaining: envelope.forwardFeeRemaining - transitFee,
    });
    const inMsg: InMsg = { kind: 'transit', envelope: old, outEnvelope, transitFee };
    descriptors.addIn(inMsg);
    const imported = storeInMsg(cells, inMsg);
    descriptors.addOut(message.hash, { kind: own ? 'requeued' : 'transit', envelope: outEnvelope, imported });
    const stop = between(next, destination, route.nextBits);
    if (own) queue.remove(message.key);
    queue.add({ next: stop, hash: message.hash, lt: message.lt, enqueuedLt: startLt, envelope: outEnvelope });
  }

  return {
    tickTock(kind, ids) {
      const lt = later(endLt, startLt + 1n);
      for (const id of ids) {
        const done = mustRun(id, kind, later(lt, deferral.emittedLt(id) + 1n));
        note(done, begin(id, done.transaction.lt));
      }
    },
    special(amount, destination) {
      const cell = storeSpecialMessage(cells, amount, destination, startLt, utime);
      const { info } = readMessage(cells, cell);
      const done = receive(info as InternalInfo, cell, startLt);
      note(done, begin(destination, done.transaction.lt));
      const metadata = undefined;
      const envelope = storeEnvelope(cell, info as InternalInfo, metadata);
      const inMsg: InMsg = { kind: 'immediate', envelope, transaction: done.transaction.cell, forwardFee: 0n };
      descriptors.addIn(inMsg);
      return storeInMsg(cells, inMsg);
    },
    arrive({ message, own, taken }) {
      deliver(message);
      if (taken) return;
      const envelope = cells.import(states, message.envelopeCell);
      if (!containsPlace(shard, message.destination)) {
        passOn(message, envelope, own);
        return;
      }
      const cell = cells.import(states, message.envelope.message);
      const { metadata, forwardFeeRemaining: forwardFee } = message.envelope;
      const done = receive(message.info, cell, 0n);
      note(done, metadata && { ...metadata, depth: metadata.depth + 1 });
      const inMsg: InMsg = { kind: 'final', envelope, transaction: done.transaction.cell, forwardFee };
      descriptors.addIn(inMsg);
      if (!own) return;
      descriptors.addOut(message.hash, { kind: 'dequeuedImmediately', envelope, reimport: storeInMsg(cells, inMsg) });
      queue.remove(message.key);
    },
    external(message) {
      const { id } = message.destination;
      const outcome = accounts.run(id, { boc: message.text }, firstLt(id, lastDelivered?.lt ?? 0n));
      if (outcome.kind === 'rejected') return outcome;
      const transaction = note(outcome, begin(id, outcome.transaction.lt));
      const cell = importBoc(cells, Buffer.from(message.text, 'base64'));
      descriptors.addIn({ kind: 'external', message: cell, transaction: transaction.cell });
      return { kind: 'included', transaction: cells.hash(transaction.cell), lt: transaction.lt };
    },
    emit(deferred) {
      const { source, envelope } = deferred;
      dispatch.remove(deferred);
      const lt = deferral.emit(source);
      endLt = later(endLt, lt + 1n);
      const cell = cells.import(states, envelope.message);
      const { info } = readMessage(cells, cell);
      const { metadata, forwardFeeRemaining: forwardFee } = envelope;
      const origin = { waited: storeMessageEnvelope(cells, { ...envelope, message: cell, emittedLt: lt }) };
      const hash = cells.hash(cell);
      newMessages.add({ lt, hash, cell, info: info as InternalInfo, origin, index: 0, forwardFee, metadata });
    },
    deliverNew() {
      const message = newMessages.take();
      if (message === undefined) return false;
      const { cell, hash, info, origin, forwardFee, metadata } = message;
      const { id: source } = info.source!;
      if ('waited' in origin) deferral.settle(source);
      else if (deferral.mustWait(source, message.index, queue.size)) {
        defer(message, origin.transaction);
        return true;
      }
      if (isFull || !containsPlace(shard, placeOf(info.destination))) {
        enqueue(message);
        return true;
      }
      deliver(message);
      const done = receive(info, cell, message.lt);
      note(done, metadata && { ...metadata, depth: metadata.depth + 1 });
      const transaction = done.transaction.cell;
      if ('waited' in origin) {
        descriptors.addIn({ kind: 'deferredFinal', envelope: origin.waited, transaction, forwardFee });
        return true;
      }
      const envelope = storeEnvelope(cell, info, metadata);
      const inMsg: InMsg = { kind: 'immediate', envelope, transaction, forwardFee };
      descriptors.addIn(inMsg);
      descriptors.addOut(hash, { kind: 'immediate', envelope, ...origin, reimport: storeInMsg(cells, inMsg) });
      return true;
    },
    fill() {
      isFull = true;
    },
    dequeue({ key, hash, envelopeCell, next }, importLt) {
      queue.remove(key);
      if (!options.shortDequeue) {
        descriptors.addOut(hash, { kind: 'dequeued', envelope: cells.import(states, envelopeCell), importLt });
        return;
      }
      const envelopeHash = states.hash(envelopeCell);
      const { workchain: nextWorkchain, prefix: nextPrefix } = next;
      descriptors.addOut(hash, { kind: 'dequeuedShort', envelopeHash, nextWorkchain, nextPrefix, importLt });
    },
    get transactions() {
      return transactions;
    },
    get gas() {
      return gas;
    },
    get endLt() {
      return endLt;
    },
    get lastDelivered() {
      return lastDelivered;
    },
    get burned() {
      return burned;
    },
  };
}

function later(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

function isBefore(
  one: { readonly lt: bigint; readonly hash: Buffer },
  other: { readonly lt: bigint; readonly hash: Buffer },
): boolean {
  return one.lt === other.lt ? Buffer.compare(one.hash, other.hash) < 0 : one.lt < other.lt;
}

/** An internal message from the masterchain's account 0 that does not bounce. */
function storeSpecialMessage(
  cells: CellStore,
  amount: CurrencyCollection,
  destination: Buffer,
  lt: bigint,
  utime: number,
): number {
  const writer = new BitWriter().uint(0b0110, 4);
  for (const id of [Buffer.alloc(32), destination]) writeStandardAddress(writer, { workchain: MASTERCHAIN, id });
  writeCurrencyCollection(writer, amount);
  return writer.uint(0, 8).int(lt, 64).uint(utime, 32).uint(0, 2).finish(cells);
}
