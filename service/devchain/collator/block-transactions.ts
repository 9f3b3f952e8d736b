import { MASTERCHAIN } from '#service/decode/block-id.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import type { InternalInfo } from '#service/decode/tlb/message.ts';
import type { MessageMetadata } from '#service/decode/tlb/msg-envelope.ts';
import type { ShardIdent } from '#service/decode/tlb/shard-ident.ts';
import type { Transaction } from '#service/decode/tlb/transaction.ts';
import type { BlockAccounts, Execution } from './accounts.ts';
import type { Deferral } from './deferral.ts';
import type { Descriptors } from './descriptors.ts';
import type { Work } from './executor.ts';
import { bocText } from './executor.ts';
import type { NewMessages } from './new-messages.ts';

type Done = Extract<Execution, { kind: 'done' }>;

/** Runs the accounts of a block, counts their work and collects the messages that they send. */
export type BlockTransactions = {
  /** Throws Error when no transaction can be made. */
  run(id: Buffer, message: Work['message'], lt: bigint): Done;
  /** Delivers an internal message to its account, after `afterLt`. Throws like `run`. */
  receive(info: InternalInfo, cell: number, afterLt: bigint): Done;
  /** Returns the least lt of an account's transaction that comes after `afterLt`. */
  firstLt(id: Buffer, afterLt: bigint): bigint;
  /**
   * Counts a transaction and collects its messages.
   * @param metadata of its messages; `initiator`: the transaction begins a chain of messages
   */
  note(done: Done, metadata: MessageMetadata | 'initiator' | undefined): Transaction;
  /** Raises `endLt` to this lt, unless it is higher. */
  reach(lt: bigint): void;
  readonly transactions: number;
  /** Gas of all transactions except the turns of special accounts. */
  readonly gas: number;
  readonly endLt: bigint;
  /** Nanotons that were sent to the black hole. */
  readonly burned: bigint;
};

export type BlockTransactionsOptions = {
  readonly shard: ShardIdent;
  readonly startLt: bigint;
  readonly firstEndLt: bigint;
  /** `capMsgMetadata`: envelopes name the initiator of a chain of messages. */
  readonly withMetadata: boolean;
  readonly blackhole: Buffer | undefined;
};

export type BlockTransactionsParts = {
  /** The block's store. */
  readonly cells: CellStore;
  readonly accounts: BlockAccounts;
  readonly descriptors: Descriptors;
  readonly deferral: Deferral;
  readonly newMessages: NewMessages;
};

export function createBlockTransactions(
  options: BlockTransactionsOptions,
  { cells, accounts, descriptors, deferral, newMessages }: BlockTransactionsParts,
): BlockTransactions {
  const { shard, startLt } = options;
  let [endLt, transactions, gas, burned] = [options.firstEndLt, 0, 0, 0n];

  function run(id: Buffer, message: Work['message'], lt: bigint): Done {
    const outcome = accounts.run(id, message, lt);
    if (outcome.kind === 'done') return outcome;
    throw new Error(`a transaction of ${shard.workchain}:${id.toString('hex')} cannot be made: ${outcome.error}`);
  }

  function firstLt(id: Buffer, afterLt: bigint): bigint {
    return later(later(startLt, afterLt), deferral.emittedLt(id)) + 1n;
  }

  /** Metadata of the messages of a transaction that begins a chain of messages. */
  function initiatedBy({ account, lt }: Transaction): MessageMetadata {
    return { mode: 0, depth: 0, initiator: { workchain: shard.workchain, id: account }, initiatorLt: lt };
  }

  return {
    run,
    firstLt,
    receive(info, cell, afterLt) {
      const { id } = info.destination;
      const isBlackhole = options.blackhole?.equals(id) === true && shard.workchain === MASTERCHAIN;
      const before = isBlackhole ? accounts.balanceOf(id) : 0n;
      const done = run(id, { boc: bocText(cells, cell) }, firstLt(id, afterLt));
      if (isBlackhole) burned += before + info.value.grams - accounts.balanceOf(id) - done.transaction.totalFees.grams;
      return done;
    },
    note(done, given) {
      const { transaction } = done;
      const { descr } = transaction;
      const metadata = given === 'initiator' ? initiatedBy(transaction) : given;
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
    },
    reach(lt) {
      endLt = later(endLt, lt);
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
    get burned() {
      return burned;
    },
  };
}

/** Returns the greater of two logical times. */
export function later(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
