import type { LiveAnswer, ReadContext } from '../contract/answer.ts';
import type {
  LiveTransaction,
  LiveTransactions,
  MessageName,
  TransactionRange,
} from '../live/transactions/transactions.ts';
import { address, destination, source } from './address-parameter.ts';
import { optionalFlag } from './flag-parameter.ts';
import { optionalHash } from './hash-parameter.ts';
import { listLength, optionalLt, requiredLt } from './integer-parameter.ts';
import { defineOperation, type Operation } from '../contract/operation.ts';
import { withDefault, type Parameters, type ParameterRule, type Values } from '../contract/parameter.ts';
import type { RawJson } from '../contract/json-stream.ts';
import { constant, list, named, object, type Infer, type Shape } from '../contract/shape.ts';
import { createTransactionWriter, type TransactionWriter } from './transaction-json.ts';
import { plainForm, stdForm, transaction, transactionStd } from './transaction-views.ts';
import { transactionId, viewTransactionId } from './views.ts';

/** Maximum transactions per answer (service/v2/README.md#transactions). */
const LIMIT_MAX = 1000;

const historyParameters = {
  address,
  lt: optionalLt('lt'),
  hash: optionalHash('hash'),
  // Values below zero equal zero: the contract has no message for them (service/v2/README.md#validation-messages).
  toLt: withDefault({ ...optionalLt('to_lt'), check: () => undefined }, 0n),
  // False has no effect: if a lite server lacks the data, the pool asks another that has them.
  archival: optionalFlag('archival'),
  limit: listLength('limit', { name: 'LimitInput', max: LIMIT_MAX }, 10),
} satisfies Parameters;

type History = Values<typeof historyParameters>;

/** A start is named by lt and hash, both or neither. @param isAbsent whether an lt stands for none */
function startRule(isAbsent: (lt: bigint | undefined) => boolean): ParameterRule<typeof historyParameters> {
  return {
    schema: { dependentRequired: { lt: ['hash'], hash: ['lt'] } },
    check: ({ lt, hash }) =>
      isAbsent(lt) === (hash === undefined) ? undefined : 'lt and hash should be used together',
  };
}

function rangeOf({ lt, hash, toLt, limit, archival }: History): TransactionRange {
  const from = lt === undefined || hash === undefined ? undefined : { lt, hash };
  return { from, limit, toLt: toLt > 0n ? toLt : 0n, ...(archival && { archival }) };
}

type Transaction = Infer<typeof transaction>;
type TransactionStd = Infer<typeof transactionStd>;

/** A transaction, which is written already. */
const writtenTransaction: Shape<Transaction | RawJson<Transaction>> = transaction;
const writtenTransactionStd: Shape<TransactionStd | RawJson<TransactionStd>> = transactionStd;

const transactions = named('Transactions', list(writtenTransaction, LIMIT_MAX));

const transactionsStd = named(
  'TransactionsStd',
  object({
    '@type': constant('raw.transactions'),
    transactions: list(writtenTransactionStd, LIMIT_MAX),
    previous_transaction_id: transactionId,
  }),
);

const messageParameters = { source, destination, createdLt: requiredLt('created_lt') };

/** Operations on transactions of accounts, and on both ends of a message (service/v2/README.md#transactions). */
export function transactionOperations(live: LiveTransactions): readonly Operation[] {
  const write = createTransactionWriter(plainForm);
  const writeStd = createTransactionWriter(stdForm);
  return [
    defineOperation({
      name: 'getTransactions',
      methods: ['GET', 'POST'],
      tag: 'transactions',
      summary: 'Transactions of an account, newest first.',
      parameters: historyParameters,
      failures: [542],
      // lt 0 is what some clients send for "from the newest".
      rule: startRule((lt) => lt === undefined || lt === 0n),
      result: transactions,
      handle: async (values, context) => {
        const answer = await live.readTransactions(values.address, rangeOf(values), context);
        return { ...answer, value: await write(answer.value.transactions, context.signal) };
      },
    }),
    defineOperation({
      name: 'getTransactionsStd',
      methods: ['GET', 'POST'],
      tag: 'transactions',
      summary: 'Transactions of an account, newest first, and where the next page starts.',
      parameters: historyParameters,
      failures: [542],
      rule: startRule((lt) => lt === undefined),
      result: transactionsStd,
      handle: async (values, context) => {
        const answer = await live.readTransactions(values.address, rangeOf(values), context);
        const { transactions: shown, previous } = answer.value;
        const value = {
          '@type': 'raw.transactions',
          transactions: await writeStd(shown, context.signal),
          previous_transaction_id: viewTransactionId(previous),
        } as const;
        return { ...answer, value };
      },
    }),
    locating(write, 'tryLocateTx', 'The transaction that a message caused.', (name, context) =>
      live.findReceiver(name, context),
    ),
    locating(write, 'tryLocateResultTx', 'The transaction that a message caused.', (name, context) =>
      live.findReceiver(name, context),
    ),
    locating(write, 'tryLocateSourceTx', 'The transaction that sent a message.', (name, context) =>
      live.findSender(name, context),
    ),
  ];
}

function locating(
  write: TransactionWriter<Transaction>,
  name: string,
  summary: string,
  find: (message: MessageName, context: ReadContext) => Promise<LiveAnswer<LiveTransaction>>,
): Operation {
  return defineOperation({
    name,
    methods: ['GET', 'POST'],
    tag: 'transactions',
    summary,
    parameters: messageParameters,
    failures: [404],
    result: writtenTransaction,
    handle: async (values, context) => {
      const answer = await find(values, context);
      const [value] = await write([answer.value], context.signal);
      return { ...answer, value: value! };
    },
  });
}
