import { createPacer } from '../contract/paced.ts';
import { list, named, object, type Infer } from '../contract/shape.ts';
import { formatRawAddress } from '../decode/address.ts';
import { createCellStore } from '../decode/cell-store.ts';
import { parseBoc } from '../decode/boc.ts';
import { readTransaction } from '../decode/tlb/transaction.ts';
import type { Pending, PendingState, PendingTrace } from '../pending/pending.ts';
import { accountNotes, type AccountNotes } from './account-notes.ts';
import { addressBook } from './address-book.ts';
import { notIndexed } from './errors.ts';
import { defineV3Operation, type V3Operation } from './operation.ts';
import type { Account } from './parameter-values.ts';
import { account, accounts, hashes, texts } from './parameters.ts';
import { viewBytes } from './scalars.ts';
import { growTree } from './trace-tree.ts';
import { trace, type TraceView } from './trace-views.ts';
import {
  transaction,
  viewTransaction,
  type ShownTransaction,
  type StatesByHash,
  type TransactionView,
} from './transaction-views.ts';
import { addressesOf } from './transactions.ts';

const pendingTransactionsResponse = named(
  'PendingTransactionsResponse',
  object({ transactions: list(transaction), address_book: addressBook }),
);

const pendingTracesResponse = named('PendingTracesResponse', object({ traces: list(trace), ...accountNotes }));

export type PendingOperationsDependencies = {
  readonly pending: Pick<Pending, 'find'>;
  readonly notes: AccountNotes;
};

/** What sent messages are foreseen to lead to (v3 sheet section 12). */
export function pendingOperations({ pending, notes }: PendingOperationsDependencies): readonly V3Operation[] {
  return [
    defineV3Operation({
      name: 'pendingTransactions',
      tag: 'pending',
      summary: 'Foreseen transactions of accounts, or of traces, that are not indexed yet.',
      parameters: { accounts: accounts('account'), traceIds: hashes('trace_id') },
      rule: {
        schema: {},
        check: ({ accounts: some, traceIds }) =>
          some.length + traceIds.length > 0 ? undefined : 'at least 1 account address required',
      },
      failures: [404],
      result: pendingTransactionsResponse,
      handle: async ({ accounts: some, traceIds }, context) => {
        const traces = await pending.find({ accounts: some, hashes: traceIds });
        if (traces.length === 0) throw notIndexed('emulated traces not found');
        const shown = (await viewAll(traces)).flatMap(({ transactions }) => transactions);
        const asked = new Set(some.map(rawText));
        const transactions = some.length === 0 ? shown : shown.filter((one) => asked.has(one.account));
        return { transactions, address_book: await notes.bookOf(addressesOf(transactions), context) };
      },
    }),
    defineV3Operation({
      name: 'pendingTraces',
      tag: 'pending',
      summary: 'Foreseen traces of an account, or of messages from outside, that are not indexed yet.',
      parameters: {
        account: account('account'),
        messageHashes: hashes('ext_msg_hash'),
        supportedActionTypes: texts('supported_action_types'),
      },
      rule: {
        schema: {},
        check: ({ account: one, messageHashes }) =>
          one !== undefined || messageHashes.length > 0 ? undefined : 'account or ext_msg_hash should be specified',
      },
      result: pendingTracesResponse,
      handle: async ({ account: one, messageHashes }, context): Promise<Infer<typeof pendingTracesResponse>> => {
        const found = await pending.find(one === undefined ? { hashes: messageHashes } : { accounts: [one] });
        const views = await viewAll(found);
        const transactions = views.flatMap((view) => view.transactions);
        return { traces: views.map(viewTrace), ...(await notes.notesOf(addressesOf(transactions), context)) };
      },
    }),
  ];
}

type ViewedTrace = { readonly trace: PendingTrace; readonly transactions: readonly TransactionView[] };

function rawText(address: Account): string {
  return formatRawAddress(address, 'upper');
}

async function viewAll(traces: readonly PendingTrace[]): Promise<readonly ViewedTrace[]> {
  const pacer = createPacer();
  const store = createCellStore();
  const viewed: ViewedTrace[] = [];
  for (const one of traces) {
    const states = statesByHash(one.states);
    const transactions: TransactionView[] = [];
    for (const foreseen of one.transactions) {
      await pacer.pause();
      transactions.push(await viewTransaction(openForeseen(foreseen, one), states, pacer, store));
    }
    viewed.push({ trace: one, transactions });
  }
  return viewed;
}

/** No block holds it: its place is zeros (v3 sheet section 12). */
function openForeseen(
  foreseen: PendingTrace['transactions'][number],
  { key, rootHash, version }: PendingTrace,
): ShownTransaction {
  const table = parseBoc(foreseen.boc);
  return {
    table,
    transaction: readTransaction(table, table.roots[0]!),
    workchain: foreseen.workchain,
    shard: 0n,
    seqno: 0,
    mcSeqno: 0,
    traceId: rootHash,
    traceExternalHash: key,
    softwareVersion: version,
    finality: 'pending',
    emulated: true,
  };
}

const statuses = { uninit: 0, frozen: 1, active: 2, nonexist: 3 } as const;

function statesByHash(states: readonly PendingState[]): StatesByHash {
  return new Map(
    states.map((state) => [
      viewBytes(state.hash),
      {
        balance: state.balance,
        extra_currencies: state.extraCurrencies,
        status: statuses[state.status],
        frozen_hash: state.frozenHash,
        data_hash: state.dataHash,
        code_hash: state.codeHash,
      },
    ]),
  );
}

function viewTrace({ trace: one, transactions }: ViewedTrace): TraceView {
  const [first] = transactions;
  const last = transactions.at(-1);
  const traceId = viewBytes(one.rootHash);
  const tree = growTree(transactions, traceId);
  return {
    trace_id: traceId,
    external_hash: viewBytes(one.messageHash),
    mc_seqno_start: '0',
    mc_seqno_end: '0',
    start_lt: first?.lt ?? '0',
    start_utime: first?.now ?? 0,
    end_lt: last?.lt ?? null,
    end_utime: last?.now ?? null,
    trace_info: {
      trace_state: 'pending',
      messages: Math.max(0, transactions.length - 1) + one.left,
      transactions: transactions.length,
      pending_messages: one.left,
      classification_state: 'unclassified',
    },
    is_incomplete: one.left > 0,
    actions: [],
    ...(tree && { trace: tree.root }),
    transactions_order: transactions.map(({ hash }) => hash),
    transactions: Object.fromEntries(transactions.map((shown) => [shown.hash, shown])),
  };
}
