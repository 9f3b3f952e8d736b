import { RawJson } from '#service/contract/json-stream.ts';
import { list, named, object, type Infer } from '#service/contract/shape.ts';
import { formatRawAddress } from '#service/decode/address.ts';
import type { Pending, PendingTrace } from '#service/pending/pending.ts';
import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';
import { answerAnnotations, type AnswerAnnotations } from '../annotations/answer-annotations.ts';
import type { ActionNetwork } from '../action-details/action-derived.ts';
import { supportedActionTypes, supportedBy } from '../request/action-parameters.ts';
import { addressesOfActions, viewAction } from '../views/action-views.ts';
import { actionsResponse } from './actions.ts';
import { addressBook } from '../annotations/address-book.ts';
import { notIndexed } from '../request/errors.ts';
import { defineV3Operation, type V3Operation } from '../request/operation.ts';
import type { Account } from '../request/parameter-values.ts';
import { account, accounts, bool, hashes } from '../request/parameters.ts';
import { actionsOfPending, viewPending, viewPendingTrace } from '../views/pending-views.ts';
import { trace } from '../views/trace-views.ts';
import { compare } from '../views/simulated-views.ts';
import { transaction, type TransactionView } from '../views/transaction-views.ts';
import { refuseLargeCopies, type WrittenTransactions } from '../rendering/action-transactions.ts';
import { addressesOf } from '../rendering/assemble-transaction.ts';

const pendingTransactionsResponse = named(
  'PendingTransactionsResponse',
  object({ transactions: list(transaction), address_book: addressBook }),
);

const pendingTracesResponse = named('PendingTracesResponse', object({ traces: list(trace), ...answerAnnotations }));

export type PendingOperationsDependencies = {
  readonly pending: Pick<Pending, 'find'>;
  readonly notes: AnswerAnnotations;
  readonly network: ActionNetwork;
};

/** Subject of a request: an account, or messages from outside by hash; an account has precedence (service/v3/README.md#pending). */
const asked = {
  parameters: { account: account('account'), messageHashes: hashes('ext_msg_hash'), supportedActionTypes },
  rule: {
    schema: {},
    check: ({ account: one, messageHashes }: AttemptResult): string | undefined =>
      one !== undefined || messageHashes.length > 0 ? undefined : 'account or ext_msg_hash should be specified',
  },
};

type AttemptResult = { readonly account?: Account | undefined; readonly messageHashes: readonly Buffer[] };

/** Operations on the simulated results of sent messages (service/v3/README.md#pending). */
export function pendingOperations(dependencies: PendingOperationsDependencies): readonly V3Operation[] {
  return [pendingTransactions(dependencies), pendingTraces(dependencies), pendingActions(dependencies)];
}

function pendingTransactions({ pending, notes }: PendingOperationsDependencies): V3Operation {
  return defineV3Operation({
    name: 'pendingTransactions',
    tag: 'pending',
    summary: 'Simulated transactions of accounts, or of traces, that are not indexed yet.',
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
      const shown = (await viewPending(traces, context.store)).flatMap(({ transactions }) => transactions);
      const wanted = new Set(some.map(rawText));
      const transactions = some.length === 0 ? shown : shown.filter((one) => wanted.has(one.account));
      return { transactions, address_book: await notes.bookOf(addressesOf(transactions), context) };
    },
  });
}

function pendingTraces({ pending, notes, network }: PendingOperationsDependencies): V3Operation {
  return defineV3Operation({
    name: 'pendingTraces',
    tag: 'pending',
    summary: 'Simulated traces of an account, or of messages from outside, that are not indexed yet.',
    ...asked,
    result: pendingTracesResponse,
    handle: async (values, context): Promise<Infer<typeof pendingTracesResponse>> => {
      const { account: one, messageHashes } = values;
      const supported = supportedBy(values, context);
      const filter = one === undefined ? { hashes: messageHashes } : { accounts: [one] };
      const found = await pending.find({ ...filter, wanted: 'actions' });
      const views = await viewPending(found, context.store);
      const actions = found.map((pendingTrace) => actionsOfPending(pendingTrace, supported));
      const traces = views.map((view, at) => viewPendingTrace(view, actions[at]!, network));
      const addresses = [
        ...addressesOf(views.flatMap((view) => view.transactions)),
        ...addressesOfActions(
          actions.flat(),
          traces.flatMap((view) => view.actions ?? []),
        ),
      ];
      return { traces, ...(await notes.notesOf(addresses, context)) };
    },
  });
}

function pendingActions({ pending, notes, network }: PendingOperationsDependencies): V3Operation {
  return defineV3Operation({
    name: 'pendingActions',
    tag: 'pending',
    summary: 'Actions of simulated traces of an account, or of messages from outside.',
    ...asked,
    parameters: { ...asked.parameters, withTransactions: bool('include_transactions') },
    result: actionsResponse,
    handle: async (values, context): Promise<Infer<typeof actionsResponse>> => {
      const found = await findWithActions(pending, values);
      const supported = supportedBy(values, context);
      const raw = values.account && rawText(values.account);
      const shown = found
        .flatMap((pendingTrace) => actionsOfPending(pendingTrace, supported))
        .filter(({ accounts: some }) => raw === undefined || some.includes(raw))
        .toSorted((one, other) => compare(other.traceEndLt, one.traceEndLt));
      const views = values.withTransactions
        ? (await viewPending(found, context.store)).flatMap((view) => view.transactions)
        : [];
      const transactions = values.withTransactions ? await writeTransactions(views, context.signal) : undefined;
      if (transactions !== undefined) refuseLargeCopies(shown, transactions, 'leave out include_transactions');
      const actions = shown.map((one) => viewAction(one, network, { withAccounts: true, transactions }));
      const addresses = [...addressesOfActions(shown, actions), ...addressesOf(views)];
      return { actions, ...(await notes.notesOf(addresses, context)) };
    },
  });
}

function findWithActions(
  pending: Pick<Pending, 'find'>,
  { account: one, messageHashes }: AttemptResult,
): Promise<readonly PendingTrace[]> {
  const filter = one === undefined ? { hashes: messageHashes } : { actionAccounts: [one] };
  return pending.find({ ...filter, wanted: 'actions' });
}

/** Renders each transaction once: several actions may show it. */
async function writeTransactions(views: readonly TransactionView[], signal: AbortSignal): Promise<WrittenTransactions> {
  const written = await mapInSlices(
    views,
    (view) => [view.hash, new RawJson<TransactionView>([JSON.stringify(view)])] as const,
    createTimeSlice(signal),
  );
  return new Map(written);
}

function rawText(address: Account): string {
  return formatRawAddress(address, 'upper');
}
