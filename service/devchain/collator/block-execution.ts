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
import type { BlockAccounts } from './accounts.ts';
import { createBlockTransactions, later } from './block-transactions.ts';
import type { BlockTransactions, BlockTransactionsOptions } from './block-transactions.ts';
import type { Deferral } from './deferral.ts';
import type { DeferredMessage } from './dispatch-queue.ts';
import { importBoc } from './executor.ts';
import type { ExternalMessage, ExternalOutcome } from './external-message.ts';
import type { Arrival } from './neighbors.ts';
import { createNewMessages, isSentBefore } from './new-messages.ts';
import { createOutMessages, storeArrivedEnvelope } from './out-messages.ts';
import type { OutMessages, OutMessagesOptions, OutMessagesParts } from './out-messages.ts';
import { placeOf } from './out-queue.ts';
import { containsPlace } from './routing.ts';

/** Transactions of one block, in the node's order. */
export type BlockExecution = Pick<BlockTransactions, 'transactions' | 'gas' | 'endLt' | 'burned'> &
  Pick<OutMessages, 'dequeue'> & {
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
    /** The last internal message that was delivered. */
    readonly lastDelivered: { readonly lt: bigint; readonly hash: Buffer } | undefined;
  };

export type BlockExecutionOptions = BlockTransactionsOptions & OutMessagesOptions & { readonly utime: number };

export type BlockExecutionParts = OutMessagesParts & { readonly accounts: BlockAccounts; readonly deferral: Deferral };

export function createBlockExecution(options: BlockExecutionOptions, parts: BlockExecutionParts): BlockExecution {
  const { shard, startLt, utime } = options;
  const { cells, states, accounts, descriptors, queue, dispatch, deferral } = parts;
  const newMessages = createNewMessages();
  const executions = createBlockTransactions(options, { cells, accounts, descriptors, deferral, newMessages });
  const outgoing = createOutMessages(options, { cells, states, descriptors, queue, dispatch });
  let isFull = false;
  let lastDelivered: BlockExecution['lastDelivered'];

  function deliver(message: { readonly lt: bigint; readonly hash: Buffer }): void {
    if (lastDelivered !== undefined && !isSentBefore(lastDelivered, message)) {
      throw new Error('a message comes after one that was sent later');
    }
    lastDelivered = { lt: message.lt, hash: Buffer.from(message.hash) };
  }

  return {
    tickTock(kind, ids) {
      const lt = later(executions.endLt, startLt + 1n);
      for (const id of ids)
        executions.note(executions.run(id, kind, later(lt, deferral.emittedLt(id) + 1n)), 'initiator');
    },
    special(amount, destination) {
      const cell = storeSpecialMessage(cells, amount, destination, startLt, utime);
      const { info } = readMessage(cells, cell);
      const transaction = executions.note(executions.receive(info as InternalInfo, cell, startLt), 'initiator');
      const envelope = storeArrivedEnvelope(cells, { cell, info: info as InternalInfo, metadata: undefined });
      const inMsg: InMsg = { kind: 'immediate', envelope, transaction: transaction.cell, forwardFee: 0n };
      descriptors.addIn(inMsg);
      return storeInMsg(cells, inMsg);
    },
    arrive({ message, own, taken }) {
      deliver(message);
      if (taken) return;
      const envelope = cells.import(states, message.envelopeCell);
      if (!containsPlace(shard, message.destination)) {
        outgoing.passOn(message, envelope, own);
        return;
      }
      const cell = cells.import(states, message.envelope.message);
      const { metadata, forwardFeeRemaining: forwardFee } = message.envelope;
      const transaction = executions.note(executions.receive(message.info, cell, 0n), nextDepth(metadata));
      const inMsg: InMsg = { kind: 'final', envelope, transaction: transaction.cell, forwardFee };
      descriptors.addIn(inMsg);
      if (!own) return;
      descriptors.addOut(message.hash, { kind: 'dequeuedImmediately', envelope, reimport: storeInMsg(cells, inMsg) });
      queue.remove(message.key);
    },
    external(message) {
      const { id } = message.destination;
      const outcome = accounts.run(id, { boc: message.text }, executions.firstLt(id, lastDelivered?.lt ?? 0n));
      if (outcome.kind === 'rejected') return outcome;
      const transaction = executions.note(outcome, 'initiator');
      const cell = importBoc(cells, Buffer.from(message.text, 'base64'));
      descriptors.addIn({ kind: 'external', message: cell, transaction: transaction.cell });
      const { lt, descr, outMessages } = transaction;
      const sent = outMessages.flatMap(({ info }) => (info.kind === 'internal' ? [info] : []));
      const actionCode = 'action' in descr ? descr.action?.resultCode : undefined;
      return { kind: 'included', transaction: cells.hash(transaction.cell), lt, sent, actionCode };
    },
    emit(deferred) {
      const { source, envelope } = deferred;
      dispatch.remove(deferred);
      const lt = deferral.emit(source);
      executions.reach(lt + 1n);
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
        outgoing.defer(message, origin.transaction);
        return true;
      }
      if (isFull || !containsPlace(shard, placeOf(info.destination))) {
        outgoing.enqueue(message);
        return true;
      }
      deliver(message);
      const { cell: transaction } = executions.note(executions.receive(info, cell, message.lt), nextDepth(metadata));
      if ('waited' in origin) {
        descriptors.addIn({ kind: 'deferredFinal', envelope: origin.waited, transaction, forwardFee });
        return true;
      }
      const envelope = storeArrivedEnvelope(cells, message);
      const inMsg: InMsg = { kind: 'immediate', envelope, transaction, forwardFee };
      descriptors.addIn(inMsg);
      descriptors.addOut(hash, { kind: 'immediate', envelope, ...origin, reimport: storeInMsg(cells, inMsg) });
      return true;
    },
    fill() {
      isFull = true;
    },
    dequeue: outgoing.dequeue,
    get transactions() {
      return executions.transactions;
    },
    get gas() {
      return executions.gas;
    },
    get endLt() {
      return executions.endLt;
    },
    get lastDelivered() {
      return lastDelivered;
    },
    get burned() {
      return executions.burned;
    },
  };
}

/** Metadata of messages that a transaction sends on behalf of the message that it received. */
function nextDepth(metadata: MessageMetadata | undefined): MessageMetadata | undefined {
  return metadata && { ...metadata, depth: metadata.depth + 1 };
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
