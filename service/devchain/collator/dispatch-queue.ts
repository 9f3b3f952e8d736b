import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { updateHashmap } from '#service/decode/hashmap-writer.ts';
import type { HashmapChange } from '#service/decode/hashmap-writer.ts';
import { lookupHashmap, uintKey, walkHashmap } from '#service/decode/hashmap.ts';
import { readAccountDispatchQueue, writeAccountDispatchQueue } from '#service/decode/tlb/account-dispatch-queue.ts';
import type { MessageEnvelope } from '#service/decode/tlb/msg-envelope.ts';
import { readMessageEnvelope } from '#service/decode/tlb/msg-envelope.ts';
import {
  leastLtAugmentation,
  readEnqueuedMessage,
  writeEnqueuedMessage,
} from '#service/decode/tlb/out-msg-queue-info.ts';

/** Dispatch queue while a block is made: messages of senders with too many at a time. Each message waits for its sender's turn. */
export type DispatchQueue = {
  has(source: Buffer): boolean;
  /** @param envelope in the block's store */
  add(source: Buffer, lt: bigint, envelope: number): void;
  remove(message: DeferredMessage): void;
  /** Returns ids of accounts with deferred messages, and the lt of their first message. */
  accounts(): { readonly source: Buffer; readonly lt: bigint }[];
  /** Returns an account's messages from before the block, ordered by lt, at most `max`. */
  list(source: Buffer, max: number): DeferredMessage[];
  /** The root in the store of states. */
  finish(): number | undefined;
};

export type DeferredMessage = {
  readonly source: Buffer;
  /** Lt of the message's creation. */
  readonly lt: bigint;
  /** Cells are of the store of states. */
  readonly envelope: MessageEnvelope;
};

/** `_ (HashmapAugE 256 AccountDispatchQueue uint64) = DispatchQueue`. */
export const DISPATCH_SHAPE = { bits: 256, augmentation: leastLtAugmentation };

const LT_BITS = 64;

type Changed = { readonly source: Buffer; readonly messages: HashmapChange[]; more: number };

const skipLt = (slice: CellSlice): void => slice.skip(LT_BITS);

/**
 * @param root in the store of states
 * @param cells the block's store
 */
export function openDispatchQueue(states: CellStore, cells: CellStore, root: number | undefined): DispatchQueue {
  const changes = new Map<string, Changed>();

  function find(source: Buffer): { readonly messages: number | undefined; readonly count: bigint } {
    const value = lookupHashmap(states, root, 256, source, { readExtra: skipLt });
    return value === undefined ? { messages: undefined, count: 0n } : readAccountDispatchQueue(value);
  }

  function changed(source: Buffer): Changed {
    const key = source.toString('latin1');
    const known = changes.get(key) ?? { source, messages: [], more: 0 };
    changes.set(key, known);
    return known;
  }

  function finishAccount({ source, messages: list, more }: Changed): HashmapChange {
    const old = find(source);
    const messages = updateHashmap(states, old.messages, { bits: LT_BITS }, list);
    if (messages === undefined) return { key: source, write: undefined };
    const least = leastLt(states, messages);
    const count = old.count + BigInt(more);
    return {
      key: source,
      write: (writer) => void writeAccountDispatchQueue(writer.int(least, LT_BITS), { messages, count }),
    };
  }

  return {
    has: (source) => find(source).count + BigInt(changes.get(source.toString('latin1'))?.more ?? 0) > 0n,
    add(source, lt, envelope) {
      const account = changed(source);
      const importedEnvelope = states.import(cells, envelope);
      const write: HashmapChange['write'] = (writer) =>
        void writeEnqueuedMessage(writer, { enqueuedLt: lt, envelope: importedEnvelope });
      account.messages.push({ key: uintKey(lt, LT_BITS), write });
      account.more++;
    },
    remove({ source, lt }) {
      const account = changed(source);
      account.messages.push({ key: uintKey(lt, LT_BITS), write: undefined });
      account.more--;
    },
    accounts() {
      const found: { source: Buffer; lt: bigint }[] = [];
      walkHashmap(
        states,
        root,
        256,
        (source, value) => {
          const { messages } = readAccountDispatchQueue(value);
          found.push({ source: Buffer.from(source), lt: leastLt(states, messages) });
        },
        { readExtra: skipLt },
      );
      return found;
    },
    list(source, max) {
      const found: DeferredMessage[] = [];
      walkHashmap(states, find(source).messages, LT_BITS, (key, value) => {
        if (found.length === max) return false;
        const { envelope } = readEnqueuedMessage(value);
        found.push({
          source,
          lt: key.readBigUInt64BE(0),
          envelope: readMessageEnvelope(new CellSlice(states, envelope)),
        });
        return true;
      });
      return found;
    },
    finish: () => updateHashmap(states, root, DISPATCH_SHAPE, [...changes.values()].map(finishAccount)),
  };
}

function leastLt(states: CellStore, messages: number): bigint {
  let least = 0n;
  walkHashmap(states, messages, LT_BITS, (key) => {
    least = key.readBigUInt64BE(0);
    return false;
  });
  return least;
}
