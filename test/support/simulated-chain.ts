import { Address, beginCell, Dictionary, internal, storeMessage, storeTransaction } from '@ton/core';
import type { Cell, Message } from '@ton/core';

import { createCellStore } from '#service/decode/cell-store.ts';
import type { ChainSnapshot } from '#service/live/contracts/chain-snapshot.ts';
import { openShardAccount, writeShardAccount } from '#service/tvm/shard-account.ts';

/** Account whose transactions `sending` makes. */
export const account = Address.parseRaw(`0:${'1'.repeat(64)}`);

/** `account_none` without a transaction. */
export function noAccount(): Buffer {
  const store = createCellStore();
  const cell = store.add({ data: Buffer.from([0]), bitLength: 1, refs: [] });
  return writeShardAccount({ table: store, cell }, { hash: Buffer.alloc(32), lt: 0n });
}

/** Chain without accounts. Nothing waits in it, so every turn of the event loop in a test is a turn that the work leaves. */
export function emptyChain(emulate: ChainSnapshot['emulate']): ChainSnapshot {
  return {
    block: { utime: 1, endLt: 0n },
    readShardAccount: () => Promise.resolve(openShardAccount(noAccount())),
    readVersion: () => Promise.resolve(11),
    emulate,
  } as unknown as ChainSnapshot;
}

const messages: Parameters<typeof Dictionary.empty<number, Message>>[1] = {
  serialize: (message, builder) => builder.storeRef(beginCell().store(storeMessage(message))),
  parse: () => {
    throw new Error('not read');
  },
};

/** Transaction that sends messages with one body. @param to receiver of a message by its ordinal; default `account` */
export function sending(count: number, body: Cell, to: (at: number) => Address = () => account): Buffer {
  const outMessages = Dictionary.empty(Dictionary.Keys.Uint(15), messages);
  for (let at = 0; at < count; at++) {
    const { info, ...rest } = internal({ to: to(at), value: 1n, body });
    const sent = { ...info, src: account, createdLt: BigInt(at + 2) } as Message['info'];
    outMessages.set(at, { ...rest, info: sent });
  }
  const hash = Buffer.alloc(32);
  const transaction = {
    address: BigInt(`0x${account.hash.toString('hex')}`),
    lt: 1n,
    prevTransactionHash: 0n,
    prevTransactionLt: 0n,
    now: 1,
    outMessagesCount: count,
    oldStatus: 'non-existing',
    endStatus: 'non-existing',
    inMessage: undefined,
    outMessages,
    totalFees: { coins: 0n },
    stateUpdate: { oldHash: hash, newHash: hash },
    description: {
      type: 'generic',
      creditFirst: false,
      computePhase: { type: 'skipped', reason: 'no-state' },
      aborted: true,
      destroyed: false,
    },
  } as unknown as Parameters<typeof storeTransaction>[0];
  return beginCell().store(storeTransaction(transaction)).endCell().toBoc();
}
