import { markFlat } from '#service/contract/json-stream.ts';
import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';
import type { Values } from '#service/contract/parameter.ts';
import { list, named, object } from '#service/contract/shape.ts';
import { accountKey } from '#service/store/account-key.ts';
import { hashKey } from '#service/store/hash-key.ts';
import type { ActionRow } from '#service/store/classification-tables.ts';
import { actionOrder, findActions, findTransactionsOfActions } from '#service/store/queries/actions.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { answerAnnotations, type AnswerAnnotations } from '../annotations/answer-annotations.ts';
import type { ActionNetwork } from '../action-details/action-derived.ts';
import { actionTypes, supportedActionTypes, supportedBy } from '../request/action-parameters.ts';
import { action, addressesOfActions, ofRow, viewAction, type ActionView } from '../views/action-views.ts';
import { readPage } from '../request/cursor.ts';
import { V3Error } from '../request/errors.ts';
import { isNewestPage } from '../request/newest-page.ts';
import { requireIndexed } from '../request/require-indexed.ts';
import { defineV3Operation, type V3Context, type V3Operation } from '../request/operation.ts';
import { account, bool, cursorPaging, hashes, int32, LIMIT_MAX, windows } from '../request/parameters.ts';
import { refuseLargeCopies, type WrittenTransactions } from '../rendering/action-transactions.ts';
import type { TransactionRenderer } from '../rendering/transaction-renderer.ts';

export const actionsResponse = named(
  'ActionsResponse',
  object({ actions: list(action, LIMIT_MAX), ...answerAnnotations }),
);

/** Transactions of an answer, some 4 KB each: the transactions of a thousand usual actions fit. */
const TRANSACTIONS_MAX = 10_000;

const parameters = {
  account: account('account'),
  txHashes: hashes('tx_hash'),
  msgHashes: hashes('msg_hash'),
  actionIds: hashes('action_id'),
  traceIds: hashes('trace_id'),
  mcSeqno: int32('mc_seqno'),
  types: actionTypes('action_type'),
  excludedTypes: actionTypes('exclude_action_type'),
  withAccounts: bool('include_accounts'),
  withTransactions: bool('include_transactions'),
  supportedActionTypes,
  ...windows,
  ...cursorPaging,
};

/** Words for an answer with transactions that is too large. */
const ADVICE = 'lower limit, or leave out include_transactions';

/** Usual transactions per action: one to some ten, as in swaps. */
const TRANSACTIONS_OF_ACTION = 5;

type ActionValues = Values<typeof parameters>;

export type ActionOperationsDependencies = {
  readonly notes: Pick<AnswerAnnotations, 'notesOf'>;
  readonly network: ActionNetwork;
  readonly writer: TransactionRenderer;
};

/** Operations on actions (service/v3/README.md#actions). */
export function actionOperations({ notes, network, writer }: ActionOperationsDependencies): readonly V3Operation[] {
  return [
    defineV3Operation({
      name: 'actions',
      tag: 'actions',
      summary: 'Actions that match all filters: meanings of parts of traces.',
      parameters,
      rows: ({ limit, withTransactions }) => (withTransactions ? limit * TRANSACTIONS_OF_ACTION : limit),
      failures: [404],
      result: actionsResponse,
      sameForBlock: (values) => isNewestPage({ ...values, withAccounts: false, supportedActionTypes: [] }),
      handle: async (values, context) => {
        if (values.mcSeqno !== undefined) await requireIndexed(context.store, values.mcSeqno);
        const rows = await readList(values, context);
        const shown = rows.map(ofRow);
        const transactions = values.withTransactions ? await readTransactions(rows, writer, context.store) : undefined;
        if (transactions !== undefined) refuseLargeCopies(shown, transactions.byHash, ADVICE);
        const extras = { withAccounts: values.withAccounts, transactions: transactions?.byHash };
        const actions: readonly ActionView[] = await mapInSlices(
          shown,
          (one) => viewAction(one, network, extras),
          createTimeSlice(context.signal),
        );
        const addresses = [...addressesOfActions(shown, actions), ...(transactions?.accounts ?? [])];
        const answer = { actions, ...(await notes.notesOf(addresses, context)) };
        // Rendered transactions are nested deeper than flat items.
        return transactions === undefined ? markFlat(answer) : answer;
      },
    }),
  ];
}

function readList(values: ActionValues, context: V3Context): Promise<readonly ActionRow[]> {
  const { account: one } = values;
  const order = { list: 'actions', order: actionOrder(values, values) };
  const filter = { ...values, account: one && accountKey(one), supported: [...supportedBy(values, context)] };
  return readPage(order, values, context, (after) => findActions(context.store, filter, { ...values, after }));
}

/** Transactions of actions by hash, and their accounts. */
type OfActions = {
  readonly byHash: WrittenTransactions;
  readonly accounts: readonly string[];
};

async function readTransactions(
  rows: readonly ActionRow[],
  writer: TransactionRenderer,
  store: StoreReader,
): Promise<OfActions> {
  const hashesOf = new Set(rows.flatMap((row) => row.tx_hashes.map(hashKey)));
  if (hashesOf.size > TRANSACTIONS_MAX) throw new V3Error('answer_too_large', `the answer is too large: ${ADVICE}`);
  const opened = await writer.open(await findTransactionsOfActions(store, rows), store);
  const written = await opened.write(store);
  return { byHash: new Map(written.map(({ hash, json }) => [hash, json])), accounts: opened.accounts };
}
