import type { CellStore } from '#service/decode/cell-store.ts';
import type { InMsg } from '#service/decode/tlb/in-msg.ts';
import { storeInMsg } from '#service/decode/tlb/in-msg.ts';
import { storeMessageEnvelope } from '#service/decode/tlb/msg-envelope.ts';
import type { ShardIdent } from '#service/decode/tlb/shard-ident.ts';
import type { Descriptors } from './descriptors.ts';
import type { DispatchQueue } from './dispatch-queue.ts';
import type { NewMessage } from './new-messages.ts';
import type { OutQueue, QueuedMessage } from './out-queue.ts';
import { placeOf } from './out-queue.ts';
import { PLACE_BITS, between, nextStep } from './routing.ts';

/** Messages that leave a block undelivered: into the out queue or the dispatch queue. */
export type OutMessages = {
  /** Puts a new message that is not delivered in this block into the queue of the shard. */
  enqueue(message: NewMessage): void;
  /** Puts a new message behind the others of its sender. @param transaction that sent it */
  defer(message: NewMessage, transaction: number): void;
  /**
   * Sends a message for another shard one step on.
   * @param old its envelope in the block's store
   * @param own the message is from this shard's own queue
   */
  passOn(message: QueuedMessage, old: number, own: boolean): void;
  /** Takes the note of a message that was delivered elsewhere out of the queue. */
  readonly dequeue: (message: QueuedMessage, importLt: bigint) => void;
};

export type OutMessagesOptions = {
  readonly shard: ShardIdent;
  readonly startLt: bigint;
  /** `capShortDequeue`. */
  readonly shortDequeue: boolean;
  /** Part of a forward fee that each shard on the way takes, of 65536. */
  readonly nextFraction: bigint;
};

export type OutMessagesParts = {
  /** The block's store. */
  readonly cells: CellStore;
  readonly states: CellStore;
  readonly descriptors: Descriptors;
  readonly queue: OutQueue;
  readonly dispatch: DispatchQueue;
};

export function createOutMessages(
  { shard, startLt, shortDequeue, nextFraction }: OutMessagesOptions,
  { cells, states, descriptors, queue, dispatch }: OutMessagesParts,
): OutMessages {
  return {
    enqueue({ cell, hash, lt, info, origin, forwardFee, metadata }) {
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
        const imported = storeInMsg(cells, inMsg);
        descriptors.addOut(hash, { kind: 'deferredTransit', envelope: outEnvelope, imported });
      } else {
        descriptors.addOut(hash, { kind: 'new', envelope: outEnvelope, transaction: origin.transaction });
      }
      queue.add({
        next: between(source, destination, route.nextBits),
        hash,
        lt,
        enqueuedLt: lt,
        envelope: outEnvelope,
      });
    },
    defer({ cell, hash, lt, info, forwardFee, metadata }, transaction) {
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
    },
    passOn(message, old, own) {
      const { envelope, destination, next } = message;
      const route = nextStep(next, destination, shard);
      const transitFee = (envelope.forwardFeeRemaining * nextFraction) >> 16n;
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
    },
    dequeue({ key, hash, envelopeCell, next }, importLt) {
      queue.remove(key);
      if (!shortDequeue) {
        descriptors.addOut(hash, { kind: 'dequeued', envelope: cells.import(states, envelopeCell), importLt });
        return;
      }
      const envelopeHash = states.hash(envelopeCell);
      const { workchain: nextWorkchain, prefix: nextPrefix } = next;
      descriptors.addOut(hash, { kind: 'dequeuedShort', envelopeHash, nextWorkchain, nextPrefix, importLt });
    },
  };
}

/** Stores the envelope of a message that is at its destination already. */
export function storeArrivedEnvelope(
  cells: CellStore,
  { cell, info, metadata }: Pick<NewMessage, 'cell' | 'info' | 'metadata'>,
): number {
  return storeMessageEnvelope(cells, {
    currentBits: PLACE_BITS,
    nextBits: PLACE_BITS,
    forwardFeeRemaining: info.forwardFee,
    message: cell,
    emittedLt: undefined,
    metadata,
  });
}
