import type { InternalInfo } from '#service/decode/tlb/message.ts';
import type { MessageMetadata } from '#service/decode/tlb/msg-envelope.ts';

/** Message that a transaction of this block sent to an account. Its cells are in the block's store. */
export type NewMessage = {
  readonly lt: bigint;
  readonly hash: Buffer;
  readonly cell: number;
  readonly info: InternalInfo;
  /** Transaction that sent the message. A deferred message, sent in another block, has its envelope instead. */
  readonly origin: { readonly transaction: number } | { readonly waited: number };
  /** Place among the messages of its transaction. */
  readonly index: number;
  /** Nanotons that the shards on the way may still take. */
  readonly forwardFee: bigint;
  readonly metadata: MessageMetadata | undefined;
};

/** New messages in the order of their delivery: by lt, then by hash. */
export type NewMessages = {
  add(message: NewMessage): void;
  /** Removes and returns the first message. */
  take(): NewMessage | undefined;
};

/** A binary heap: a block may make thousands of messages, most of which come in order. */
export function createNewMessages(): NewMessages {
  const heap: NewMessage[] = [];

  function swap(one: number, other: number): void {
    [heap[one], heap[other]] = [heap[other]!, heap[one]!];
  }

  return {
    add(message) {
      let at = heap.push(message) - 1;
      for (let above = (at - 1) >> 1; at > 0 && isSentBefore(heap[at]!, heap[above]!); above = (at - 1) >> 1) {
        swap(at, above);
        at = above;
      }
    },
    take() {
      if (heap.length === 0) return undefined;
      swap(0, heap.length - 1);
      const first = heap.pop();
      for (let at = 0; ;) {
        const [left, right] = [2 * at + 1, 2 * at + 2];
        let least = at;
        if (left < heap.length && isSentBefore(heap[left]!, heap[least]!)) least = left;
        if (right < heap.length && isSentBefore(heap[right]!, heap[least]!)) least = right;
        if (least === at) return first;
        swap(at, least);
        at = least;
      }
    },
  };
}

type Sent = Pick<NewMessage, 'lt' | 'hash'>;

/** Reports whether a message was sent before another: by lt, then by hash. */
export function isSentBefore(one: Sent, other: Sent): boolean {
  return one.lt === other.lt ? Buffer.compare(one.hash, other.hash) < 0 : one.lt < other.lt;
}
