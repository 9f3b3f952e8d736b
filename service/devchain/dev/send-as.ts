import { BitWriter } from '#service/decode/bit-writer.ts';
import type { Boc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import type { AccountState } from '#service/decode/tlb/account.ts';
import { readAccount, storeAccount } from '#service/decode/tlb/account.ts';
import { NO_CURRENCIES } from '#service/decode/tlb/currency-collection.ts';
import { writeStandardAddress } from '#service/decode/tlb/message-address.ts';
import type { ExternalOutcome } from '../collator/external-message.ts';
import type { AccountEdit } from '../collator/state-edits.ts';
import { DevchainError } from '../chain/errors.ts';
import type { FundedAccount } from '../production/faucet.ts';
import type { PrivateNetwork } from '../private-network.ts';
import { accountAt } from '../chain/snapshots.ts';

/** An internal message that a developer sends in the name of an account. */
export type InternalOrder = {
  readonly from: FundedAccount;
  readonly to: FundedAccount;
  readonly nanotons: bigint;
  readonly body: Boc | undefined;
  readonly bounce: boolean;
};

/**
 * Code that sends the message in its data once, on an external message. In the same transaction it restores the account's own code and
 * data. A bounce thus meets the own code. Opcodes: `SETCP0`, `IFNOTRET` (an internal message is taken), `PUSHCTR c4`, `CTOS`, three times
 * `LDREF`, `DROP`, `ACCEPT`, `POPCTR c4`, `SETCODE`, `1 PUSHINT`, `SENDRAWMSG`.
 */
const SENDER_CODE = Buffer.from('ff00dded44d0d4d4d430f800ed54fb0471fb00', 'hex');

/** Nanotons for the fees of the sender, taken back afterwards. */
const FEES = 1_000_000_000n;

/**
 * Sends the message and makes the blocks for that. Afterwards the sender's code, data and balance are as before. A sender that did not
 * exist is removed again.
 * @returns hash of the external message at the start of the trace
 * @throws DevchainError `transfer_refused` when the message does not fit the network
 */
export async function sendAs(network: PrivateNetwork, order: InternalOrder): Promise<{ readonly messageHash: Buffer }> {
  const { from, to } = order;
  await network.ensure(from);
  await network.ensure(to);
  if (order.body !== undefined) await network.ensureLibraries(order.body);
  const { chain } = network;
  const found = accountAt(chain, network.head(), from);
  const before = found && readAccount(chain.states, found.account);
  // A block without shard blocks would not take the message.
  network.shardBlocks.hold(false);
  await network.step([senderEdit(order)]);
  try {
    return await trigger(network, from);
  } finally {
    await network.step([restoringEdit(from, before)]);
  }
}

type Before = ReturnType<typeof readAccount>;

function senderEdit(order: InternalOrder): AccountEdit {
  return {
    ...order.from,
    edit(states, cell) {
      const old = cell === undefined ? undefined : readAccount(states, cell);
      const empty = new BitWriter().finish(states);
      const init = old?.state.kind === 'active' ? old.state.init : undefined;
      const parts = [storeMessage(states, order), init?.code ?? empty, init?.data ?? empty];
      const { grams, extra } = old?.balance ?? NO_CURRENCIES;
      return storeAccount(states, {
        ...order.from,
        lastTransactionLt: old?.lastTransactionLt ?? 0n,
        lastPaid: old?.storage.lastPaid ?? 0,
        duePayment: undefined,
        balance: { grams: grams + order.nanotons + FEES, extra },
        state: {
          kind: 'active',
          init: {
            fixedPrefixLength: init?.fixedPrefixLength,
            special: undefined,
            code: new BitWriter().bytes(SENDER_CODE).finish(states),
            data: parts.reduce((writer, part) => writer.ref(part), new BitWriter()).finish(states),
            libraries: init?.libraries,
          },
        },
      });
    },
  };
}

/** The account with its earlier state and balance, and with the transaction that it has had since. */
function restoringEdit(from: FundedAccount, before: Before): AccountEdit {
  return {
    ...from,
    edit(states, cell) {
      if (before === undefined || cell === undefined) return undefined;
      const { lastTransactionLt, storage, state } = readAccount(states, cell)!;
      return storeAccount(states, {
        ...from,
        lastTransactionLt,
        lastPaid: storage.lastPaid,
        duePayment: before.storage.duePayment,
        balance: before.balance,
        state: restoredState(states, before.state, state),
      });
    },
  };
}

/** A bounce that came already may have changed the data of a contract. */
function restoredState(states: CellStore, before: AccountState, now: AccountState): AccountState {
  if (before.kind !== 'active' || now.kind !== 'active') return before;
  const senderCode = new BitWriter().bytes(SENDER_CODE).finish(states);
  return now.init.code === senderCode
    ? before
    : { kind: 'active', init: { ...now.init, special: before.init.special } };
}

/** Sends the message from outside, and waits for its block. */
async function trigger(network: PrivateNetwork, from: FundedAccount): Promise<{ readonly messageHash: Buffer }> {
  const store = createCellStore();
  // Unlike any other in the network: the same bytes are refused within a minute.
  const body = new BitWriter().uint(network.head().id.seqno, 32).finish(store);
  const message = writeStandardAddress(new BitWriter().uint(0b1000, 4), from);
  const root = message.coins(0n).bit(false).bit(true).ref(body).finish(store);
  const boc = writeBoc(store, [root]);
  const text = boc.toString('base64');
  const outcomes: ExternalOutcome[] = [];
  const stop = network.onOutcome((external, outcome) => {
    if (external.text === text) outcomes.push(outcome);
  });
  try {
    network.send(boc);
    for (let block = 0; outcomes.length === 0 && block < BLOCKS_MAX; block++) await network.step();
  } catch (cause) {
    throw refused(cause instanceof Error ? cause.message : String(cause), cause);
  } finally {
    stop();
  }
  const included = outcomes.find((outcome) => outcome.kind === 'included');
  if (included === undefined) throw refused('a block did not take it');
  if (included.sent.length === 0) throw refused(`the action phase ended with code ${included.actionCode ?? 'none'}`);
  return { messageHash: store.hash(root) };
}

/** A block takes the message at once, unless it is full. */
const BLOCKS_MAX = 8;

/** `int_msg_info$0`. The network fills in the sender's address, fees and times. */
function storeMessage(states: CellStore, { to, nanotons, body, bounce }: InternalOrder): number {
  const writer = writeStandardAddress(new BitWriter().bit(false).bit(true).bit(bounce).bit(false).uint(0, 2), to);
  writer.coins(nanotons).bit(false).coins(0n).coins(0n).int(0n, 64).uint(0, 32).bit(false);
  const cell = body === undefined ? new BitWriter().finish(states) : states.import(body, body.roots[0]!);
  return writer.bit(true).ref(cell).finish(states);
}

function refused(reason: string, cause?: unknown): DevchainError<'transfer_refused'> {
  const message = `the message cannot be sent: ${reason}`;
  return new DevchainError({ code: 'transfer_refused', message, data: {}, retryable: true, cause });
}
