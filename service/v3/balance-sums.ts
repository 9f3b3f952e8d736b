import type { CellTable } from '../decode/cell-table.ts';
import { DecodeError } from '../decode/errors.ts';
import { formatRawAddress } from '../decode/address.ts';
import { addressText } from '../decode/messages/addresses.ts';
import { openBouncedBody } from '../decode/tlb/bounced-body.ts';
import { openBody, type InternalInfo, type Message } from '../decode/tlb/message.ts';
import type { Transaction } from '../decode/tlb/transaction.ts';
import { hashKey } from '../store/hash-key.ts';

/** A transaction that moved something. */
export type MovingTransaction = {
  readonly table: CellTable;
  readonly transaction: Transaction;
  readonly workchain: number;
};

/** Whose jettons a wallet holds; raw addresses. */
export type WalletOwner = { readonly owner: string; readonly jetton: string };

/** Sums by raw address: nanotons, and units of jettons by their masters. */
export type BalanceSums = {
  /** What accounts have more, or less, after all. */
  readonly changes: ReadonlyMap<string, bigint>;
  /** What they paid for it: for what they did, and for messages that they sent. */
  readonly fees: ReadonlyMap<string, bigint>;
  readonly jettons: ReadonlyMap<string, ReadonlyMap<string, bigint>>;
};

/**
 * What transactions changed, each with the message that it took: the message's value went over, its sender paid its way, and its taker what was done.
 * Of a whole trace that is the difference of the accounts' balances; what was sent and not taken yet is not in it.
 * @param sent as `messagesSentBy` names them: who sent others, as the chain itself does, is not part of it
 * @param wallets the jetton wallets among the accounts, by raw address
 */
export function sumBalances(
  transactions: Iterable<MovingTransaction>,
  sent: ReadonlySet<string>,
  wallets: ReadonlyMap<string, WalletOwner>,
): BalanceSums {
  const changes = new Map<string, bigint>();
  const fees = new Map<string, bigint>();
  const jettons = new Map<string, Map<string, bigint>>();
  const pay = (account: string, fee: bigint): void => {
    add(fees, account, fee);
    add(changes, account, -fee);
  };
  for (const { table, transaction, workchain } of transactions) {
    const account = formatRawAddress({ workchain, id: transaction.account }, 'upper');
    pay(account, transaction.totalFees.grams);
    const { inMessage } = transaction;
    if (inMessage?.info.kind !== 'internal') continue;
    const { source, value, forwardFee } = inMessage.info;
    add(changes, account, value.grams);
    if (sent.has(hashKey(table.hash(inMessage.cell)))) {
      add(changes, addressText(source), -value.grams);
      pay(addressText(source), forwardFee);
    }
    const wallet = wallets.get(account);
    if (wallet === undefined) continue;
    const moved = isDone(transaction) ? readMovedJettons(table, inMessage, inMessage.info) : 0n;
    if (moved === 0n) continue;
    const own = jettons.get(wallet.owner) ?? new Map<string, bigint>();
    jettons.set(wallet.owner, own);
    add(own, wallet.jetton, moved);
  }
  return { changes, fees, jettons };
}

/** Keys of the hashes of all messages that transactions sent. */
export function messagesSentBy(transactions: Iterable<MovingTransaction>): ReadonlySet<string> {
  const sent = new Set<string>();
  for (const { table, transaction } of transactions) {
    for (const { cell } of transaction.outMessages) sent.add(hashKey(table.hash(cell)));
  }
  return sent;
}

function add(sums: Map<string, bigint>, key: string, value: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + value);
}

function isDone({ descr }: Transaction): boolean {
  return 'aborted' in descr && !descr.aborted;
}

/** What a jetton wallet's messages mean for what it holds (TEP-74): `transfer`, `burn`, `internal_transfer`, `burn_notification`. */
const transferOpcode = 0x0f8a7ea5;
const burnOpcode = 0x595f07bc;
const internalTransferOpcode = 0x178d4519;
const burnNotificationOpcode = 0x7bdd97de;

/** By a message that a wallet took and carried out; 0 for one that moved nothing. */
function readMovedJettons(table: CellTable, { body }: Message, { bounced }: InternalInfo): bigint {
  try {
    const returned = bounced ? openBouncedBody(openBody(table, body)) : undefined;
    const slice = returned ?? openBody(table, body);
    const opcode = slice.uint(32);
    const comesBack = returned !== undefined;
    const sign = signOf(opcode, comesBack);
    if (sign === 0n) return 0n;
    slice.skip(64);
    return sign * slice.coins();
  } catch (error) {
    if (error instanceof DecodeError) return 0n;
    throw error;
  }
}

function signOf(opcode: number, comesBack: boolean): bigint {
  if (comesBack) return opcode === internalTransferOpcode || opcode === burnNotificationOpcode ? 1n : 0n;
  if (opcode === internalTransferOpcode) return 1n;
  return opcode === transferOpcode || opcode === burnOpcode ? -1n : 0n;
}
