import type { CellTable } from '#service/decode/cell-table.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { formatRawAddress } from '#service/decode/address.ts';
import { addressText } from '#service/decode/messages/addresses.ts';
import { ReadBudget } from '#service/decode/read-budget.ts';
import { openBouncedBody } from '#service/decode/tlb/bounced-body.ts';
import { listExtraCurrencies, type CurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import { openBody, type InternalInfo, type Message } from '#service/decode/tlb/message.ts';
import type { Transaction } from '#service/decode/tlb/transaction.ts';
import { hashKey } from '#service/store/hash-key.ts';

/** A transaction with value to account for. */
export type MovingTransaction = {
  readonly table: CellTable;
  readonly transaction: Transaction;
  readonly workchain: number;
};

/** Owner and jetton of a wallet; raw addresses. */
export type WalletOwner = { readonly owner: string; readonly jetton: string };

/** An account that receives (1) or loses (-1) an amount. */
type Share = { readonly account: string; readonly sign: 1n | -1n };

/** Sums by raw address: nanotons, and units of jettons by their masters. */
export type BalanceSums = {
  /** Final differences of the accounts' balances. */
  readonly changes: ReadonlyMap<string, bigint>;
  /** Fees of the accounts: for their own execution, and for the messages they sent. */
  readonly fees: ReadonlyMap<string, bigint>;
  readonly jettons: ReadonlyMap<string, ReadonlyMap<string, bigint>>;
  /** Units of extra currencies by their ids; `changes` in all but the currency. */
  readonly extraCurrencies: ReadonlyMap<string, ReadonlyMap<number, bigint>>;
};

/**
 * Balance changes of transactions with their inbound messages. The message's value moves, the sender pays for forwarding, the receiver for
 * execution. Over a whole trace the result is the difference of the accounts' balances, without messages in progress.
 * @param sent result of `messagesSentBy`: senders of other messages, such as the chain itself, do not count
 * @param wallets jetton wallets among the accounts, by raw address
 * @throws DecodeError `too_big` for more extra currencies than a read may list
 */
export function sumBalances(
  transactions: Iterable<MovingTransaction>,
  sent: ReadonlySet<string>,
  wallets: ReadonlyMap<string, WalletOwner>,
): BalanceSums {
  const changes = new Map<string, bigint>();
  const fees = new Map<string, bigint>();
  const jettons = new Map<string, Map<string, bigint>>();
  const extraCurrencies = new Map<string, Map<number, bigint>>();
  const budget = new ReadBudget();
  const moveExtra = (table: CellTable, { extra }: CurrencyCollection, shares: readonly Share[]): void => {
    for (const { id, amount } of listExtraCurrencies(table, extra, budget)) {
      for (const { account, sign } of shares) addWithin(extraCurrencies, account, id >>> 0, sign * amount);
    }
  };
  const pay = (account: string, fee: bigint): void => {
    add(fees, account, fee);
    add(changes, account, -fee);
  };
  for (const { table, transaction, workchain } of transactions) {
    const account = formatRawAddress({ workchain, id: transaction.account }, 'upper');
    pay(account, transaction.totalFees.grams);
    moveExtra(table, transaction.totalFees, [{ account, sign: -1n }]);
    const { inMessage } = transaction;
    if (inMessage?.info.kind !== 'internal') continue;
    const { source, value, forwardFee } = inMessage.info;
    add(changes, account, value.grams);
    const isSent = sent.has(hashKey(table.hash(inMessage.cell)));
    const sender: Share = { account: addressText(source), sign: -1n };
    moveExtra(table, value, [{ account, sign: 1n }, ...(isSent ? [sender] : [])]);
    if (isSent) {
      add(changes, sender.account, -value.grams);
      pay(sender.account, forwardFee);
    }
    const wallet = wallets.get(account);
    if (wallet === undefined) continue;
    const moved = isDone(transaction) ? readMovedJettons(table, inMessage, inMessage.info) : 0n;
    if (moved === 0n) continue;
    addWithin(jettons, wallet.owner, wallet.jetton, moved);
  }
  return { changes, fees, jettons, extraCurrencies };
}

/** Keys of the hashes of all messages that transactions sent. */
export function messagesSentBy(transactions: Iterable<MovingTransaction>): ReadonlySet<string> {
  const sent = new Set<string>();
  for (const { table, transaction } of transactions) {
    for (const { cell } of transaction.outMessages) sent.add(hashKey(table.hash(cell)));
  }
  return sent;
}

function add<Key>(sums: Map<Key, bigint>, key: Key, value: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + value);
}

function addWithin<Key>(sums: Map<string, Map<Key, bigint>>, account: string, key: Key, value: bigint): void {
  const own = sums.get(account) ?? new Map<Key, bigint>();
  sums.set(account, own);
  add(own, key, value);
}

function isDone({ descr }: Transaction): boolean {
  return 'aborted' in descr && !descr.aborted;
}

/** Messages that change a jetton wallet's balance (TEP-74): `transfer`, `burn`, `internal_transfer`, `burn_notification`. */
const transferOpcode = 0x0f8a7ea5;
const burnOpcode = 0x595f07bc;
const internalTransferOpcode = 0x178d4519;
const burnNotificationOpcode = 0x7bdd97de;

/** Jettons that a received and executed message moved; 0 for other messages. */
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
