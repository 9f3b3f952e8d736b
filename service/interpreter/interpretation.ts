import { CLASSIFIED_TRANSACTIONS_MAX, type Classified } from '../actions/classify.ts';
import { createTimeSlice, mapInSlices, type TimeSlice } from '../runtime/time-slice.ts';
import type { EventTransaction } from '../actions/engine/classifier-input.ts';
import { parseAddress } from '../decode/address.ts';
import { classifyWithLookups } from '../interfaces/classify-with-lookups.ts';
import type { ChangedAccount, Detected } from '../interfaces/detector.ts';
import { hashKey } from '../store/hash-key.ts';
import { ZEROSTATES_SEQNO } from '../store/interpretations.ts';
import {
  readBlockTransactions,
  readCompleteTraces,
  readEarlierTransactions,
  readEdits,
  readTakers,
} from '../store/interpreted-rows.ts';
import type { StoredEdit, StoredTransaction } from '../store/interpreted-rows.ts';
import { accountKey, accountOfKey } from '../store/account-key.ts';
import type { EditedContract, Classification, RefusedMessage } from '../store/classification-writer.ts';
import type { Store } from '../store/store.ts';
import type { TraceRow } from '../store/tables.ts';
import { traceMeaning, traceMeaningInSlices, type TraceMeaning } from './action-rows.ts';
import { changesOf } from './changed-accounts.ts';
import {
  createAccountFactsLookup,
  type AccountFactsLookup,
  type AccountFactsLookupDependencies,
} from './account-facts-lookup.ts';
import { eventTraceOf, openReadable, type OpenTransaction } from './traces.ts';
import { mayTransfer, passedOn, refusesJettons, transferOf, type TransferRows } from './transfers.ts';

/** Seqno of the masterchain block after the zerostates. */
const FIRST_SEQNO = 1;

/** Numbers of interpreted rows, for metrics. */
export type InterpretedCounts = { readonly transactions: number; readonly traces: number; readonly actions: number };

export type Interpretation = {
  readonly meaning: Classification;
  readonly counts: InterpretedCounts;
  /** Complete traces that ended in the blocks. */
  readonly traces: readonly TraceRow[];
};

type LedgerRows = {
  readonly transactions: readonly StoredTransaction[];
  readonly traces: readonly TraceRow[];
  readonly earlier: readonly StoredTransaction[];
  readonly edits: readonly StoredEdit[];
};

export type InterpretationDependencies = AccountFactsLookupDependencies & {
  /** Accounts with code that were there before the first block, and that it has not changed. */
  readonly readBeginning: (signal: AbortSignal) => Promise<readonly ChangedAccount[]>;
};

/**
 * Interprets masterchain blocks: kinds of changed accounts, requests to contracts, and actions of traces that ended there.
 * The result depends only on the chain. Rejects with StoreError and with the signal's reason.
 */
export async function interpret(
  seqnos: readonly number[],
  dependencies: InterpretationDependencies,
  signal: AbortSignal,
): Promise<Interpretation> {
  const { store, versions } = dependencies;
  const beginning = seqnos.includes(ZEROSTATES_SEQNO) ? await detectBeginning(dependencies, signal) : [];
  const rows = await readLedger(store, seqnos);
  const timeSlice = createTimeSlice(signal);
  const own = await openReadable(rows.transactions, timeSlice);
  const earlier = await openReadable(rows.earlier, timeSlice);
  const knowledge = await createAccountFactsLookup(changesOf(own), changesOf(earlier), dependencies, signal);
  const meanings: TraceMeaning[] = [];
  for (const { row, transactions } of tracesOf(rows.traces, [...own, ...earlier])) {
    await timeSlice.pause();
    meanings.push(await meaningOf({ row, transactions }, knowledge, versions.newest, timeSlice));
  }
  const meaning: Classification = {
    contracts: [...beginning, ...knowledge.detected.map(({ found }) => found)],
    edited: await detectEdited(rows.edits, dependencies, signal),
    facts: knowledge.facts,
    ...(await transfersOf(own, knowledge, store, timeSlice)),
    refused: own.flatMap(({ stored, event }) => (refusesJettons(event) ? senderOf(stored, event) : [])),
    traces: meanings.map(({ trace }) => trace),
    actions: meanings.flatMap(({ actions }) => actions),
    actionAccounts: meanings.flatMap(({ accounts }) => accounts),
  };
  const counts = { transactions: own.length, traces: meanings.length, actions: meaning.actions.length };
  return { meaning, counts, traces: rows.traces };
}

/** Detects accounts of the zerostates at the first block, the earliest that can be read. Later transactions report their changes. */
async function detectBeginning(
  { finder, readBeginning }: Pick<InterpretationDependencies, 'finder' | 'readBeginning'>,
  signal: AbortSignal,
): Promise<readonly Detected[]> {
  const accounts = await readBeginning(signal);
  const found = await Promise.all(accounts.map((account) => finder.detect(FIRST_SEQNO, account, signal)));
  return found.filter((one) => one !== undefined);
}

/** Contracts that accounts are after a change without a transaction. */
function detectEdited(
  edits: readonly StoredEdit[],
  { finder }: Pick<InterpretationDependencies, 'finder'>,
  signal: AbortSignal,
): Promise<EditedContract[]> {
  return Promise.all(
    edits.map(async ({ account, lt, mc_seqno: mcSeqno, code_hash: codeHash, methods }) => {
      const changed = { account: accountOfKey(account), codeHash, methods };
      const found = codeHash === null ? undefined : await finder.detect(mcSeqno, changed, signal);
      return { account, lt, contract: found ?? {} };
    }),
  );
}

function readLedger(store: Pick<Store, 'transaction'>, seqnos: readonly number[]): Promise<LedgerRows> {
  return store.transaction(async ({ query }) => {
    const transactions = await readBlockTransactions(query, seqnos);
    const traces = await readCompleteTraces(query, seqnos);
    const here = new Map<string, number>();
    for (const { trace_id } of transactions) {
      const name = hashKey(trace_id);
      here.set(name, (here.get(name) ?? 0) + 1);
    }
    const began = traces.filter(
      ({ trace_id, nodes }) => nodes <= CLASSIFIED_TRANSACTIONS_MAX && here.get(hashKey(trace_id)) !== nodes,
    );
    const earlier = await readEarlierTransactions(query, began, seqnos);
    return { transactions, traces, earlier, edits: await readEdits(query, seqnos) };
  });
}

type WholeTrace = { readonly row: TraceRow; readonly transactions: readonly OpenTransaction[] };

function tracesOf(rows: readonly TraceRow[], transactions: readonly OpenTransaction[]): WholeTrace[] {
  const byTrace = Map.groupBy(transactions, ({ stored }) => hashKey(stored.trace_id));
  return rows.map((row) => ({
    row,
    transactions: (byTrace.get(hashKey(row.trace_id)) ?? []).toSorted(byPlace),
  }));
}

function byPlace({ stored: one }: OpenTransaction, { stored: other }: OpenTransaction): number {
  return one.lt === other.lt ? Buffer.compare(one.account, other.account) : one.lt < other.lt ? -1 : 1;
}

async function meaningOf(
  { row, transactions }: WholeTrace,
  knowledge: AccountFactsLookup,
  version: number,
  timeSlice: TimeSlice,
): Promise<TraceMeaning> {
  const trace = eventTraceOf(row, transactions);
  const classified = whatIsLeftOut(row, transactions);
  if (classified !== undefined) return traceMeaning(trace, classified, version);
  const lookUp = knowledge.ofTrace(trace, changesOf(transactions));
  return traceMeaningInSlices(trace, await classifyWithLookups(trace, lookUp, timeSlice), version, timeSlice);
}

/** Result for a trace that is not classified: too large, or partly unreadable. */
function whatIsLeftOut({ nodes }: TraceRow, { length }: readonly OpenTransaction[]): Classified | undefined {
  if (nodes > CLASSIFIED_TRANSACTIONS_MAX) return { state: 'unclassified', actions: [] };
  return length === nodes ? undefined : { state: 'failed', actions: [] };
}

type Transfers = Pick<Classification, 'looked' | 'jettonTransfers' | 'jettonBurns' | 'nftTransfers'>;

async function transfersOf(
  transactions: readonly OpenTransaction[],
  knowledge: AccountFactsLookup,
  store: Pick<Store, 'transaction'>,
  timeSlice: TimeSlice,
): Promise<Transfers> {
  const asked = transactions.filter(({ event }) => mayTransfer(event));
  const refused = await refusedMessages(asked, store, timeSlice);
  const contracts = await Promise.all(
    asked.map(async ({ stored, event }) => ({ stored, event, found: await knowledge.ofTransaction(stored) })),
  );
  const transferIn = ({ stored, event, found }: (typeof contracts)[number]): TransferRows => {
    const returned = passedOn(event).some(({ hash }) => refused.has(hash));
    return transferOf({ stored, event, jettonWallet: found?.jettonWallet, nftItem: found?.nftItem, returned });
  };
  const rows = await mapInSlices(contracts, transferIn, timeSlice);
  return {
    looked: asked.map(({ stored }) => stored),
    jettonTransfers: rows.flatMap(({ jettonTransfer }) => jettonTransfer ?? []),
    jettonBurns: rows.flatMap(({ jettonBurn }) => jettonBurn ?? []),
    nftTransfers: rows.flatMap(({ nftTransfer }) => nftTransfer ?? []),
  };
}

/** Hashes of messages that passed jettons on and that the receiver refused, among indexed transactions. */
async function refusedMessages(
  asked: readonly OpenTransaction[],
  store: Pick<Store, 'transaction'>,
  timeSlice: TimeSlice,
): Promise<ReadonlySet<string>> {
  const passing = asked.filter(({ event }) => passedOn(event).length > 0);
  const [first] = passing;
  if (first === undefined) return new Set();
  const hashes = (await mapInSlices(passing, hashesPassedOn, timeSlice)).flat();
  const traces = passing.map(({ stored }) => stored.trace_id);
  const fromLt = passing.reduce((least, { stored: { lt } }) => (lt < least ? lt : least), first.stored.lt);
  const takers = await store.transaction(({ query }) => readTakers(query, hashes, traces, fromLt));
  const opened = await openReadable(takers, timeSlice);
  return new Set(opened.flatMap(({ event }) => (refusesJettons(event) ? event.inMessage!.hash : [])));
}

function hashesPassedOn({ event }: OpenTransaction): readonly Buffer[] {
  return passedOn(event).map(({ hash }) => Buffer.from(hash, 'base64'));
}

/** Sender of the message that began a transaction; empty for a message from outside. */
function senderOf({ mc_seqno: mcSeqno }: StoredTransaction, { inMessage }: EventTransaction): RefusedMessage[] {
  const { source, createdLt } = inMessage!;
  const account = source === null ? undefined : parseAddress(source);
  return account === undefined || createdLt === null ? [] : [{ mcSeqno, source: accountKey(account), createdLt }];
}
