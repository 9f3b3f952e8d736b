import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { updateHashmap } from '#service/decode/hashmap-writer.ts';
import type { HashmapChange } from '#service/decode/hashmap-writer.ts';
import { walkHashmap } from '#service/decode/hashmap.ts';
import { shardPrefixBits } from '#service/decode/shard.ts';
import type { InternalAddress } from '#service/decode/tlb/message-address.ts';
import { readMessage } from '#service/decode/tlb/message.ts';
import type { InternalInfo } from '#service/decode/tlb/message.ts';
import type { MessageEnvelope } from '#service/decode/tlb/msg-envelope.ts';
import { readMessageEnvelope } from '#service/decode/tlb/msg-envelope.ts';
import {
  leastLtAugmentation,
  readEnqueuedMessage,
  writeEnqueuedMessage,
} from '#service/decode/tlb/out-msg-queue-info.ts';
import type { ShardIdent } from '#service/decode/tlb/shard-ident.ts';
import type { Enqueued } from './processed-upto.ts';
import type { Place } from './routing.ts';
import { between } from './routing.ts';

/** Message in a queue of the store of states, with all its facts. */
export type QueuedMessage = Enqueued & {
  /** Next stop and hash of the message: the key in the queue. */
  readonly key: Buffer;
  /** Cell of the envelope. */
  readonly envelopeCell: number;
  readonly envelope: MessageEnvelope;
  readonly info: InternalInfo;
  readonly source: Place;
  readonly destination: Place;
};

/** `next_workchain:int32 next_addr_pfx:uint64 msg_hash:bits256`. */
export const QUEUE_KEY_BITS = 352;

/** The key of a message that goes to `next`. */
function queueKey(next: Place, hash: Buffer): Buffer {
  const key = Buffer.alloc(44);
  key.writeInt32BE(next.workchain);
  key.writeBigUInt64BE(next.prefix, 4);
  hash.copy(key, 12);
  return key;
}

/** Returns the place of an account. */
export function placeOf({ workchain, id }: Pick<InternalAddress, 'workchain' | 'id'>): Place {
  return { workchain, prefix: id.readBigUInt64BE(0) };
}

/** The messages of a queue whose next stop is in the shard, in the order of the keys. */
export function listQueue(states: CellStore, root: number | undefined, shard: ShardIdent): QueuedMessage[] {
  const messages: QueuedMessage[] = [];
  const from = Buffer.alloc(44);
  from.writeInt32BE(shard.workchain);
  const end = 1n << BigInt(63 - shardPrefixBits(shard.shard));
  const [first, last] = [shard.shard - end, shard.shard + (end - 1n)];
  from.writeBigUInt64BE(first, 4);
  const add = (key: Buffer, value: CellSlice): boolean => {
    if (key.readInt32BE(0) !== shard.workchain || key.readBigUInt64BE(4) > last) return false;
    messages.push(readQueued(states, key, value));
    return true;
  };
  walkHashmap(states, root, QUEUE_KEY_BITS, add, { from, readExtra: skipLt });
  return messages;
}

/** All messages of a queue. */
export function listWholeQueue(states: CellStore, root: number | undefined): QueuedMessage[] {
  const messages: QueuedMessage[] = [];
  const add = (key: Buffer, value: CellSlice): void => void messages.push(readQueued(states, key, value));
  walkHashmap(states, root, QUEUE_KEY_BITS, add, { readExtra: skipLt });
  return messages;
}

function skipLt(slice: CellSlice): void {
  slice.skip(64);
}

function readQueued(states: CellStore, key: Buffer, value: CellSlice): QueuedMessage {
  const { enqueuedLt, envelope: envelopeCell } = readEnqueuedMessage(value);
  const envelope = readMessageEnvelope(new CellSlice(states, envelopeCell));
  const { info } = readMessage(states, envelope.message);
  if (info.kind !== 'internal' || info.source === undefined) throw new Error('a queue holds a message from nowhere');
  const [source, destination] = [placeOf(info.source), placeOf(info.destination)];
  return {
    key,
    lt: envelope.emittedLt ?? info.createdLt,
    hash: key.subarray(12),
    enqueuedLt,
    current: between(source, destination, envelope.currentBits),
    next: between(source, destination, envelope.nextBits),
    envelopeCell,
    envelope,
    info,
    source,
    destination,
  };
}

/** A queue while a block is made. */
export type OutQueue = {
  add(message: {
    readonly next: Place;
    readonly hash: Buffer;
    readonly lt: bigint;
    readonly enqueuedLt: bigint;
    /** In the block's store. */
    readonly envelope: number;
  }): void;
  remove(key: Buffer): void;
  readonly size: bigint;
  /** The root in the store of states. */
  finish(): number | undefined;
};

/** @param cells the block's store */
export function openOutQueue(
  states: CellStore,
  cells: CellStore,
  { root, size }: { readonly root: number | undefined; readonly size: bigint },
): OutQueue {
  const changes = new Map<string, HashmapChange>();
  let count = size;
  return {
    add({ next, hash, lt, enqueuedLt, envelope }) {
      const key = queueKey(next, hash);
      const importedEnvelope = states.import(cells, envelope);
      const write: HashmapChange['write'] = (writer) =>
        void writeEnqueuedMessage(writer.int(lt, 64), { enqueuedLt, envelope: importedEnvelope });
      changes.set(key.toString('latin1'), { key, write });
      count++;
    },
    remove(key) {
      changes.set(key.toString('latin1'), { key, write: undefined });
      count--;
    },
    get size() {
      return count;
    },
    finish: () =>
      updateHashmap(states, root, { bits: QUEUE_KEY_BITS, augmentation: leastLtAugmentation }, [...changes.values()]),
  };
}
