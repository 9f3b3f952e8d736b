import type { ClassificationState, Classified } from '../actions/classify.ts';
import type { Action } from '../actions/engine/action-rows.ts';
import { formatRawAddress } from '../decode/address.ts';
import { parseBoc } from '../decode/boc.ts';
import { readTransaction } from '../decode/tlb/transaction.ts';
import type { AccountId } from '../live/accounts/accounts.ts';
import { readExternalMessage, type ExternalMessage } from '../live/send/external-message.ts';
import type { SimulatedState } from '../simulation/account-state.ts';
import type { SimulatedTrace } from '../simulation/simulate-message.ts';

/** Trace of a message that was sent through this service and is not indexed yet, with all simulated transactions. */
export type PendingTrace = {
  /** Normalised hash of the message from outside (TEP-467), 32 bytes. */
  readonly key: Buffer;
  /** Message as it was sent. Any holder of the trace can simulate it again. */
  readonly message: Buffer;
  /** Hash of the message as it was sent. */
  readonly messageHash: Buffer;
  /** Simulated hash of the first transaction. The real transaction has another lt, and so another hash. */
  readonly rootHash: Buffer;
  /** When the message was sent, milliseconds of the Unix clock. */
  readonly sentUnixMs: number;
  /** Blocks of before, in Unix seconds of the chain, have not taken it. */
  readonly sinceUtime: number;
  /** `workchain:hex` of every account that has a transaction in it. */
  readonly accounts: readonly string[];
  /** Ordered by lt, then account. */
  readonly transactions: readonly PendingTransaction[];
  readonly states: readonly SimulatedState[];
  /** Version of the chain's rules that it was run by. */
  readonly version: number;
  /** Messages that were not followed, because there are too many. */
  readonly left: number;
  /** `unclassified` also when detection of its accounts failed. */
  readonly classificationState: ClassificationState;
  /**
   * Actions of the trace (service/actions/README.md). Their `traceId` is the simulated root hash.
   * No client sees it (service/v3/README.md#pending).
   */
  readonly actions: readonly Action[];
};

/** Simulated transaction as a bag of cells. */
export type PendingTransaction = {
  readonly workchain: number;
  readonly boc: Buffer;
  /** True if the real one is indexed; only a search finds that out. */
  readonly isIndexed?: boolean;
};

type Sent = Pick<PendingTrace, 'sentUnixMs' | 'sinceUtime'> & { readonly message: ExternalMessage };

/**
 * Converts a simulated trace and its classification.
 * @param classified undefined when classification failed
 */
export function pendingTraceOf(
  { message, sentUnixMs, sinceUtime }: Sent,
  { transactions, states, version, left }: SimulatedTrace,
  classified: Classified | undefined,
): PendingTrace {
  const accounts = transactions.map(({ workchain, transaction }) =>
    formatRawAddress({ workchain, id: transaction.account }),
  );
  const [first] = transactions;
  return {
    key: message.normalizedHash,
    message: message.boc,
    messageHash: message.hash,
    rootHash: first!.table.hash(first!.transaction.cell),
    sentUnixMs,
    sinceUtime,
    accounts: [...new Set(accounts)],
    transactions: transactions.map(({ workchain, boc }) => ({ workchain, boc })),
    states,
    version,
    left,
    classificationState: classified?.state ?? 'unclassified',
    actions: classified?.actions ?? [],
  };
}

/**
 * Marks the transactions that are indexed: the same number of each account, its first ones.
 * @param accounts `workchain:hex` of each indexed one; undefined when there are all
 */
export function markIndexed(trace: PendingTrace, accounts: readonly string[] | undefined): PendingTrace {
  const indexed = new Map<string, number>();
  for (const account of accounts ?? []) indexed.set(account, (indexed.get(account) ?? 0) + 1);
  const transactions = trace.transactions.map(({ workchain, boc }) => {
    if (accounts === undefined) return { workchain, boc, isIndexed: true };
    const table = parseBoc(boc);
    const account = formatRawAddress({ workchain, id: readTransaction(table, table.roots[0]!).account });
    const count = indexed.get(account) ?? 0;
    indexed.set(account, count - 1);
    return { workchain, boc, isIndexed: count > 0 };
  });
  return { ...trace, transactions };
}

/** Lookup key of a trace: an account with a transaction in it, or with an action of it. */
export function placeOf(what: 'trace' | 'action', account: AccountId): string {
  return `${what}:${formatRawAddress(account)}`;
}

/** All places of a trace. */
export function placesOf({ accounts, actions }: PendingTrace): readonly string[] {
  const ofActions = new Set(actions.flatMap((action) => action.accounts.map((account) => account.toLowerCase())));
  return [...accounts.map((account) => `trace:${account}`), ...[...ofActions].map((account) => `action:${account}`)];
}

/** The form of `writeTrace`: pods of two releases do not read each other's. */
export const TRACE_FORM = 4;

type Written = {
  readonly key: string;
  readonly message: string;
  readonly messageHash: string;
  readonly rootHash: string;
  readonly sentUnixMs: number;
  readonly sinceUtime: number;
  readonly accounts: readonly string[];
  readonly transactions: readonly (readonly [workchain: number, boc: string])[];
  readonly states: readonly WrittenState[];
  readonly version: number;
  readonly left: number;
  readonly classificationState: PendingTrace['classificationState'];
  /** Bigints as `WrittenBigint`. */
  readonly actions: readonly Action[];
};

/** JSON has no integers of this size; no part of an action has a name like this. */
const BIGINT = '$bigint';

type WrittenBigint = { readonly [BIGINT]: string };

type WrittenState = Pick<SimulatedState, 'status' | 'extraCurrencies'> & {
  readonly hash: string;
  readonly balance: string;
  readonly frozenHash: string | null;
  readonly dataHash: string | null;
  readonly codeHash: string | null;
};

/** Text of a trace for Redis. */
export function writeTrace(trace: PendingTrace): string {
  const written: Written = {
    ...trace,
    key: base64(trace.key),
    message: base64(trace.message),
    messageHash: base64(trace.messageHash),
    rootHash: base64(trace.rootHash),
    transactions: trace.transactions.map(({ workchain, boc }) => [workchain, base64(boc)]),
    states: trace.states.map((state) => ({
      ...state,
      hash: base64(state.hash),
      balance: state.balance.toString(),
      frozenHash: state.frozenHash && base64(state.frozenHash),
      dataHash: state.dataHash && base64(state.dataHash),
      codeHash: state.codeHash && base64(state.codeHash),
    })),
  };
  return JSON.stringify(written, writeBigint);
}

/** The reverse of `writeTrace`; undefined for a text that no pod writes. */
export function readTrace(text: string): PendingTrace | undefined {
  try {
    const trace = traceOf(JSON.parse(text, readBigint) as Written);
    return isWhole(trace) ? trace : undefined;
  } catch {
    return undefined;
  }
}

function traceOf(written: Written): PendingTrace {
  return {
    ...written,
    key: bytes(written.key),
    message: bytes(written.message),
    messageHash: bytes(written.messageHash),
    rootHash: bytes(written.rootHash),
    transactions: written.transactions.map(([workchain, boc]) => ({ workchain, boc: bytes(boc) })),
    states: written.states.map((state) => ({
      ...state,
      hash: bytes(state.hash),
      balance: BigInt(state.balance),
      frozenHash: state.frozenHash === null ? null : bytes(state.frozenHash),
      dataHash: state.dataHash === null ? null : bytes(state.dataHash),
      codeHash: state.codeHash === null ? null : bytes(state.codeHash),
    })),
  };
}

function isWhole(trace: PendingTrace): boolean {
  const { key, messageHash, rootHash, sentUnixMs, sinceUtime, version, left, accounts, actions } = trace;
  return (
    [key, messageHash, rootHash].every(({ length }) => length === 32) &&
    [sentUnixMs, sinceUtime, version, left].every((number) => Number.isSafeInteger(number) && number >= 0) &&
    [...accounts, ...actions.flatMap((action) => action.accounts)].every((account) => ACCOUNT.test(account))
  );
}

/** True if the message and every transaction are readable. Rendering and simulating a trace need this. */
export function isReadable({ message, transactions }: PendingTrace): boolean {
  try {
    readExternalMessage(message);
    for (const { boc } of transactions) {
      const table = parseBoc(boc);
      readTransaction(table, table.roots[0]!);
    }
    return true;
  } catch {
    return false;
  }
}

/** `workchain:hex`. */
const ACCOUNT = /^-?\d{1,10}:[0-9a-f]{64}$/i;

function writeBigint(_name: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  return { [BIGINT]: value.toString() } satisfies WrittenBigint;
}

function readBigint(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !(BIGINT in value)) return value;
  return BigInt((value as WrittenBigint)[BIGINT]);
}

function base64(value: Buffer): string {
  return value.toString('base64');
}

function bytes(text: string): Buffer {
  return Buffer.from(text, 'base64');
}
