import { formatRawAddress } from '../decode/address.ts';
import type { BlockId } from '../decode/block-id.ts';
import type {
  BlockName,
  BlockTransactionRange,
  LiveTransactions,
  TransactionName,
} from '../live/transactions/transactions.ts';
import { optionalAccountId, optionalHash } from './hash-parameter.ts';
import { listLength, optionalLt, seqno, shard, workchain } from './integer-parameter.ts';
import { defineOperation, type Operation } from '../contract/operation.ts';
import { createTimeSlice, mapInSlices } from '../runtime/time-slice.ts';
import type { ParameterRule, Values } from '../contract/parameter.ts';
import { flag, hash, lt, rawAddressLower } from './scalars.ts';
import type { RawJson } from '../contract/json-stream.ts';
import { constant, list, named, object, scalar, type Infer, type Shape } from '../contract/shape.ts';
import { createTransactionWriter } from './transaction-json.ts';
import { extForm, transactionExt } from './transaction-views.ts';
import { blockIdExt, viewBlockId, viewHash } from './views.ts';

/** Maximum transactions per answer (service/v2/README.md#transactions-of-a-block). */
const COUNT_MAX = 10_000;

/** Bits of the question: account, lt, hash, and a place to start after. */
const LISTING_MODE = 135;

const listingParameters = {
  workchain,
  shard,
  seqno,
  rootHash: optionalHash('root_hash'),
  fileHash: optionalHash('file_hash'),
  afterLt: optionalLt('after_lt'),
  afterHash: optionalAccountId('after_hash'),
  count: listLength('count', { name: 'CountInput', max: COUNT_MAX }, 40),
};

type Listing = Values<typeof listingParameters>;

const listingRule: ParameterRule<typeof listingParameters> = {
  schema: { dependentRequired: { after_lt: ['after_hash'], after_hash: ['after_lt'] } },
  check: ({ afterLt, afterHash }) =>
    (afterLt === undefined) === (afterHash === undefined)
      ? undefined
      : 'after_lt and after_hash should be used together',
};

const listingHead = {
  id: blockIdExt,
  req_count: scalar<number>({ type: 'integer', minimum: 1, maximum: COUNT_MAX }),
  incomplete: flag,
};

const shortTxId = named(
  'ShortTxId',
  object({
    '@type': constant('blocks.shortTxId'),
    mode: scalar<typeof LISTING_MODE>({ const: LISTING_MODE }),
    account: rawAddressLower,
    lt,
    hash,
  }),
);

const blockTransactions = named(
  'BlockTransactions',
  object({ '@type': constant('blocks.transactions'), ...listingHead, transactions: list(shortTxId, COUNT_MAX) }),
);

type TransactionExt = Infer<typeof transactionExt>;

/** A transaction, which is written already. */
const writtenTransactionExt: Shape<TransactionExt | RawJson<TransactionExt>> = transactionExt;

const blockTransactionsExt = named(
  'BlockTransactionsExt',
  object({
    '@type': constant('blocks.transactionsExt'),
    ...listingHead,
    transactions: list(writtenTransactionExt, COUNT_MAX),
  }),
);

export function viewShortTxId(workchainId: number, name: TransactionName): Infer<typeof shortTxId> {
  return {
    '@type': 'blocks.shortTxId',
    mode: LISTING_MODE,
    account: formatRawAddress({ workchain: workchainId, id: name.account }),
    lt: name.lt.toString(),
    hash: viewHash(name.hash),
  };
}

function viewHead(id: BlockId, count: number, incomplete: boolean) {
  return { id: viewBlockId(id), req_count: count, incomplete };
}

/** Hashes count only if both are given (service/v2/README.md#blocks). */
function nameOf({ workchain: workchainId, shard: prefix, seqno: number, rootHash, fileHash }: Listing): BlockName {
  const hashes = rootHash === undefined || fileHash === undefined ? undefined : { rootHash, fileHash };
  return { workchain: workchainId, shard: prefix, seqno: number, hashes };
}

function rangeOf({ count, afterLt, afterHash }: Listing): BlockTransactionRange {
  const after = afterLt === undefined || afterHash === undefined ? undefined : { account: afterHash, lt: afterLt };
  return { count, after };
}

/** Operations that list the transactions of a block (service/v2/README.md#transactions-of-a-block). */
export function blockTransactionOperations(live: LiveTransactions): readonly Operation[] {
  const writeExt = createTransactionWriter(extForm);
  return [
    defineOperation({
      name: 'getBlockTransactions',
      methods: ['GET', 'POST'],
      tag: 'transactions',
      summary: 'Transactions of a block by name, in the order of account ids and then of lts.',
      parameters: listingParameters,
      rule: listingRule,
      result: blockTransactions,
      handle: async (values, context) => {
        const { value, ...answer } = await live.listBlock(nameOf(values), rangeOf(values), context);
        const result: Infer<typeof blockTransactions> = {
          '@type': 'blocks.transactions',
          ...viewHead(value.block, values.count, value.incomplete),
          transactions: await mapInSlices(
            value.transactions,
            (name) => viewShortTxId(value.block.workchain, name),
            createTimeSlice(context.signal),
          ),
        };
        return { ...answer, value: result };
      },
    }),
    defineOperation({
      name: 'getBlockTransactionsExt',
      methods: ['GET', 'POST'],
      tag: 'transactions',
      summary: 'Transactions of a block whole, in the order of account ids and then of lts.',
      parameters: listingParameters,
      rule: listingRule,
      result: blockTransactionsExt,
      handle: async (values, context) => {
        const { value, ...answer } = await live.readBlockTransactions(nameOf(values), rangeOf(values), context);
        const result: Infer<typeof blockTransactionsExt> = {
          '@type': 'blocks.transactionsExt',
          ...viewHead(value.block, values.count, value.incomplete),
          transactions: await writeExt(value.transactions, context.signal),
        };
        return { ...answer, value: result };
      },
    }),
  ];
}
