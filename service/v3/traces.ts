import { list, named, object } from '../contract/shape.ts';
import type { Values } from '../contract/parameter.ts';
import { accountKey } from '../store/account-key.ts';
import { hasMasterchainBlock } from '../store/queries/blocks.ts';
import { findTraces, findTransactionsOfTraces } from '../store/queries/traces.ts';
import type { TraceRow } from '../store/tables.ts';
import { accountNotes, type AccountNotes } from './account-notes.ts';
import { notIndexed } from './errors.ts';
import { defineV3Operation, type V3Context, type V3Operation } from './operation.ts';
import { account, bool, hashes, int32, limitMax, paging, texts, windows } from './parameters.ts';
import { viewBytes } from './scalars.ts';
import { trace, viewTrace, type TraceView, type Withheld } from './trace-views.ts';
import type { TransactionView } from './transaction-views.ts';
import { viewTransactions } from './transactions.ts';

/** Transactions of a trace that is still shown whole (v3 sheet 11.1). */
const TRANSACTIONS_OF_TRACE_MAX = 4000;

/** Transactions of one answer, some 4 KB each: a page of a thousand usual traces fits. */
const TRANSACTIONS_MAX = 10_000;

const tracesResponse = named('TracesResponse', object({ traces: list(trace, limitMax), ...accountNotes }));

const eventsResponse = named('DeprecatedEventsResponse', object({ events: list(trace, limitMax), ...accountNotes }));

const parameters = {
  account: account('account'),
  traceIds: hashes('trace_id'),
  txHashes: hashes('tx_hash'),
  msgHashes: hashes('msg_hash'),
  mcSeqno: int32('mc_seqno'),
  supportedActionTypes: texts('supported_action_types'),
  ...windows,
  ...paging,
};

type TraceValues = Values<typeof parameters>;

/** What names traces. */
type Named = {
  readonly account: unknown;
  readonly traceIds: readonly unknown[];
  readonly txHashes: readonly unknown[];
  readonly msgHashes: readonly unknown[];
};

const rule = {
  schema: {},
  check: ({ account: one, traceIds, txHashes, msgHashes }: Named): string | undefined =>
    [one !== undefined, traceIds.length > 0, txHashes.length > 0, msgHashes.length > 0].filter(Boolean).length > 1
      ? 'only one of account, trace_id, tx_hash, msg_hash should be specified'
      : undefined,
};

/** Traces, and the older name for traces with actions (v3 sheet 11.1). */
export function traceOperations(notes: AccountNotes): readonly V3Operation[] {
  const answer = async (values: TraceValues, withActions: boolean, context: V3Context) => {
    const traces = await readTraces(values, withActions, context);
    return { traces, ...(await notes.notesOf(accountsOf(traces), context)) };
  };
  return [
    defineV3Operation({
      name: 'traces',
      tag: 'actions',
      summary: 'Traces: transactions that one cause led to.',
      parameters: { ...parameters, includeActions: bool('include_actions') },
      rule,
      failures: [404],
      result: tracesResponse,
      handle: async ({ includeActions, ...values }, context) => answer(values, includeActions, context),
    }),
    defineV3Operation({
      name: 'events',
      tag: 'actions',
      summary: 'Traces with actions, by an older name.',
      parameters,
      rule,
      failures: [404],
      result: eventsResponse,
      handle: async (values, context) => {
        const { traces, ...rest } = await answer(values, true, context);
        return { events: traces, ...rest };
      },
    }),
  ];
}

async function readTraces(values: TraceValues, withActions: boolean, context: V3Context): Promise<TraceView[]> {
  const { store } = context;
  const { account: one, mcSeqno } = values;
  if (mcSeqno !== undefined && !(await hasMasterchainBlock(store, mcSeqno))) {
    throw notIndexed(`masterchain block ${mcSeqno} not found`);
  }
  const rows = await findTraces(store, { ...values, account: one && accountKey(one) }, values);
  const withheld = withholdLarge(rows);
  const shown = rows.filter((row) => !withheld.has(row));
  const contents = Map.groupBy(
    await viewTransactions(store, await findTransactionsOfTraces(store, shown)),
    (view: TransactionView) => view.trace_id,
  );
  return rows.map((row) =>
    viewTrace(row, withheld.get(row) ?? contents.get(viewBytes(row.trace_id)) ?? [], { withActions }),
  );
}

/** Traces whose transactions are not shown: those that are too large, and those that no longer fit the answer. */
export function withholdLarge(rows: readonly TraceRow[]): ReadonlyMap<TraceRow, Withheld> {
  const withheld = new Map<TraceRow, Withheld>();
  let left = TRANSACTIONS_MAX;
  for (const row of rows) {
    if (row.nodes > TRANSACTIONS_OF_TRACE_MAX) withheld.set(row, 'trace is too large');
    else if (row.nodes > left) withheld.set(row, 'too many transactions in one answer');
    else left -= row.nodes;
  }
  return withheld;
}

function* accountsOf(traces: readonly TraceView[]): Generator<string> {
  for (const { transactions = {} } of traces) {
    for (const { account: shown } of Object.values(transactions)) yield shown;
  }
}
