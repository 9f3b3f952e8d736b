import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';
import { list, named, object } from '#service/contract/shape.ts';
import type { Values } from '#service/contract/parameter.ts';
import { accountKey } from '#service/store/account-key.ts';
import { findActionsOfTraces } from '#service/store/queries/actions.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { findTraces, placeOfTrace, traceOrder, type FoundTrace } from '#service/store/queries/traces.ts';
import type { TraceRow } from '#service/store/tables.ts';
import { answerAnnotations, type AnswerAnnotations } from '../annotations/answer-annotations.ts';
import type { ActionNetwork } from '../action-details/action-derived.ts';
import { supportedActionTypes, supportedBy } from '../request/action-parameters.ts';
import {
  addressesOfActions,
  noExtras,
  ofRow,
  viewAction,
  type ActionView,
  type ShownAction,
} from '../views/action-views.ts';
import { readPage } from '../request/cursor.ts';
import { requireIndexed } from '../request/require-indexed.ts';
import { defineV3Operation, type V3Context, type V3Operation } from '../request/operation.ts';
import { account, bool, cursorPaging, hashes, int32, LIMIT_MAX, windows } from '../request/parameters.ts';
import { viewBytes } from '../request/scalars.ts';
import { trace, viewTrace, type TraceView, type Withheld } from '../views/trace-views.ts';
import type { TraceRenderer } from '../rendering/trace-renderer.ts';

/** Largest trace that is rendered whole, in transactions (service/v3/README.md#traces). */
const TRANSACTIONS_OF_TRACE_MAX = 4000;

/** Transactions of an answer, some 4 KB each: a page of a thousand usual traces fits. */
const TRANSACTIONS_MAX = 10_000;

const tracesResponse = named('TracesResponse', object({ traces: list(trace, LIMIT_MAX), ...answerAnnotations }));

const eventsResponse = named(
  'DeprecatedEventsResponse',
  object({ events: list(trace, LIMIT_MAX), ...answerAnnotations }),
);

const parameters = {
  account: account('account'),
  traceIds: hashes('trace_id'),
  txHashes: hashes('tx_hash'),
  msgHashes: hashes('msg_hash'),
  mcSeqno: int32('mc_seqno'),
  supportedActionTypes,
  ...windows,
  ...cursorPaging,
};

type TraceValues = Values<typeof parameters>;

/** Names of traces in a filter. */
type Named = {
  readonly account: unknown;
  readonly traceIds: readonly unknown[];
  readonly txHashes: readonly unknown[];
  readonly msgHashes: readonly unknown[];
};

/** Usual transactions per trace: one to some ten. */
const TRANSACTIONS_OF_TRACE = 5;

const transactionsOf = ({ limit }: { readonly limit: number }): number => limit * TRANSACTIONS_OF_TRACE;

const rule = {
  schema: {},
  check: ({ account: one, traceIds, txHashes, msgHashes }: Named): string | undefined =>
    [one !== undefined, traceIds.length > 0, txHashes.length > 0, msgHashes.length > 0].filter(Boolean).length > 1
      ? 'only one of account, trace_id, tx_hash, msg_hash should be specified'
      : undefined,
};

export type TraceOperationsDependencies = {
  readonly notes: Pick<AnswerAnnotations, 'notesOf'>;
  readonly network: ActionNetwork;
  readonly writer: TraceRenderer;
};

/** Traces, and the older name for traces with actions (service/v3/README.md#traces). */
export function traceOperations({ notes, network, writer }: TraceOperationsDependencies): readonly V3Operation[] {
  const answer = async (values: TraceValues, withActions: boolean, context: V3Context) => {
    const { store } = context;
    const rows = await readList(values, context);
    const withheld = withholdLarge(rows);
    const whole = rows.filter((row) => !withheld.has(row));
    const reading = withActions
      ? readActions(whole, { network, supported: supportedBy(values, context) }, store)
      : Promise.resolve(noActions);
    const write = async () => {
      const opened = await writer.open(whole, store);
      // Traces are rendered while Postgres queries their actions.
      return Promise.all([
        opened.write(),
        reading.then(({ meant, shown }) =>
          notes.notesOf([...opened.accounts, ...addressesOfActions(meant, shown)], context),
        ),
      ]);
    };
    const [{ shown }, [contents, annotations]] = await Promise.all([reading, write()]);
    const actions = Map.groupBy(shown, (view) => view.trace_id);
    const traces = rows.map((row): TraceView =>
      viewTrace(
        row,
        withheld.get(row) ?? contents.get(row)!,
        withActions ? (actions.get(viewBytes(row.trace_id)) ?? []) : undefined,
      ),
    );
    return { traces, ...annotations };
  };
  return [
    defineV3Operation({
      name: 'traces',
      tag: 'actions',
      summary: 'Traces: transactions that one cause led to.',
      parameters: { ...parameters, includeActions: bool('include_actions') },
      rule,
      rows: transactionsOf,
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
      rows: transactionsOf,
      failures: [404],
      result: eventsResponse,
      handle: async (values, context) => {
        const { traces, ...rest } = await answer(values, true, context);
        return { events: traces, ...rest };
      },
    }),
  ];
}

async function readList(values: TraceValues, context: V3Context): Promise<readonly FoundTrace[]> {
  const { store } = context;
  const { account: one, mcSeqno } = values;
  if (mcSeqno !== undefined) await requireIndexed(store, mcSeqno);
  const order = { list: 'traces', order: traceOrder(values, values) };
  const filter = { ...values, account: one && accountKey(one) };
  return readPage(order, values, context, (after) => findTraces(store, filter, { ...values, after }), placeOfTrace);
}

/** Actions in the form of the index, and rendered actions. */
type TraceActions = { readonly meant: readonly ShownAction[]; readonly shown: readonly ActionView[] };

const noActions: TraceActions = { meant: [], shown: [] };

/** @param supported types of actions */
async function readActions(
  rows: readonly TraceRow[],
  { network, supported }: { readonly network: ActionNetwork; readonly supported: Iterable<string> },
  store: StoreReader,
): Promise<TraceActions> {
  const ids = rows.map((row) => row.trace_id);
  const meant = (await findActionsOfTraces(store, ids, [...supported])).map(ofRow);
  return {
    meant,
    shown: await mapInSlices(meant, (one) => viewAction(one, network, noExtras), createTimeSlice(store.signal)),
  };
}

/** Traces without their transactions: traces that are too large, and traces that no longer fit into the answer. */
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
