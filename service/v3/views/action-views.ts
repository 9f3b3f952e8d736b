import type { Action } from '#service/actions/engine/action-rows.ts';
import { columnsJson, type StoredColumns } from '#service/actions/engine/stored-columns.ts';
import { list, named, object, optional, scalar, type Infer } from '#service/contract/shape.ts';
import type { ActionRow } from '#service/store/classification-tables.ts';
import type { ActionNetwork } from '../action-details/action-derived.ts';
import { viewDetails } from '../action-details/action-details.ts';
import { extraCurrencyTransfer, plainDetails, plainTransfers, withDetails } from '../action-details/action-schema.ts';
import type { VersionedAction } from '../request/action-versions.ts';
import {
  anyText,
  flag,
  hash,
  integer,
  intString,
  orNull,
  viewAccountKey,
  viewBytes,
  viewBytesOrNull,
} from '../request/scalars.ts';
import { finality, transaction } from './transaction-views.ts';

/** An action (service/v3/README.md#actions). */
export const action = named(
  'Action',
  withDetails(
    object({
      trace_id: orNull(hash),
      action_id: hash,
      start_lt: intString,
      end_lt: intString,
      start_utime: integer,
      end_utime: integer,
      trace_end_lt: intString,
      trace_end_utime: integer,
      trace_mc_seqno_end: integer,
      transactions: list(hash),
      success: orNull(flag),
      type: anyText,
      details: plainDetails,
      raw_action: optional(scalar<Readonly<Record<string, unknown>>>({ type: 'object' })),
      trace_external_hash: optional(hash),
      trace_external_hash_norm: optional(hash),
      accounts: optional(list(anyText)),
      transactions_full: optional(list(transaction)),
      finality,
    }),
  ),
);

export type ActionView = Infer<typeof action>;

/** Data of an action from any source. Hashes are base64, accounts raw addresses. */
export type ShownAction = VersionedAction & {
  /** Null before the trace is in a block. */
  readonly traceId: string | null;
  readonly actionId: string;
  readonly startLt: bigint;
  readonly endLt: bigint;
  readonly startUtime: number;
  readonly endUtime: number;
  readonly traceEndLt: bigint;
  readonly traceEndUtime: number;
  readonly traceMcSeqnoEnd: number;
  readonly externalHash: string | null;
  readonly externalHashNorm: string | null;
  readonly transactions: readonly string[];
  readonly accounts: readonly string[];
  readonly success: boolean;
  readonly columns: StoredColumns;
  readonly finality: ActionView['finality'];
};

/** An indexed action. */
export function ofRow(row: ActionRow): ShownAction {
  return {
    type: row.type,
    ancestorTypes: row.ancestor_types,
    traceId: viewBytes(row.trace_id),
    actionId: viewBytes(row.action_id),
    startLt: row.start_lt,
    endLt: row.end_lt,
    startUtime: row.start_utime >>> 0,
    endUtime: row.end_utime >>> 0,
    traceEndLt: row.trace_end_lt,
    traceEndUtime: row.trace_end_utime >>> 0,
    traceMcSeqnoEnd: row.trace_mc_seqno_end,
    externalHash: viewBytesOrNull(row.trace_external_hash),
    externalHashNorm: viewBytesOrNull(row.trace_external_hash_norm),
    transactions: row.tx_hashes.map(viewBytes),
    accounts: row.accounts.map(viewAccountKey),
    success: row.success,
    columns: row.columns,
    finality: 'finalized',
  };
}

/** Data of the trace for an action outside of the index. */
export type TraceOfAction = Pick<
  ShownAction,
  'traceEndLt' | 'traceEndUtime' | 'traceMcSeqnoEnd' | 'externalHash' | 'externalHashNorm' | 'finality'
>;

/** An action as it was classified. */
export function ofAction(one: Action, trace: TraceOfAction, traceId: string | null): ShownAction {
  const { type, ancestorTypes, actionId, startLt, endLt, startUtime, endUtime, transactions, accounts, success } = one;
  const own = { type, ancestorTypes, actionId, startLt, endLt, startUtime, endUtime, transactions, accounts, success };
  return { ...own, ...trace, traceId, columns: columnsJson(one) };
}

/** Further data of an action that a caller asks for. */
export type ActionExtras = {
  readonly withAccounts: boolean;
  /** Its transactions by hash; undefined without a request for them. */
  readonly transactions: ReadonlyMap<string, Infer<typeof transaction>> | undefined;
};

export const noExtras: ActionExtras = { withAccounts: false, transactions: undefined };

/** Extras of actions outside of the index, and of events: the reference always sends their accounts. */
export const accountsAlone: ActionExtras = { withAccounts: true, transactions: undefined };

export function viewAction(shown: ShownAction, network: ActionNetwork, extras: ActionExtras): ActionView {
  const { columns, externalHash, externalHashNorm, transactions } = shown;
  const details = viewDetails(shown.type, columns, network);
  return {
    trace_id: shown.traceId,
    action_id: shown.actionId,
    start_lt: shown.startLt.toString(),
    end_lt: shown.endLt.toString(),
    start_utime: shown.startUtime,
    end_utime: shown.endUtime,
    trace_end_lt: shown.traceEndLt.toString(),
    trace_end_utime: shown.traceEndUtime,
    trace_mc_seqno_end: shown.traceMcSeqnoEnd,
    transactions,
    success: shown.success,
    type: shownType(shown.type, columns),
    details: details ?? { error: `unsupported action type: '${shown.type}'` },
    ...(details === undefined && { raw_action: rawAction(shown) }),
    ...(externalHash !== null && { trace_external_hash: externalHash }),
    ...(externalHashNorm !== null && { trace_external_hash_norm: externalHashNorm }),
    ...(extras.withAccounts && { accounts: shown.accounts }),
    ...(extras.transactions && {
      transactions_full: transactions.flatMap((one) => extras.transactions?.get(one) ?? []),
    }),
    finality: shown.finality,
  };
}

const plain: ReadonlySet<string> = new Set(plainTransfers);

function shownType(type: string, { extraCurrencies }: StoredColumns): string {
  return extraCurrencies !== undefined && plain.has(type) ? extraCurrencyTransfer : type;
}

/** Stored values of an action, by the column names of this contract. */
function rawAction({ type, success, columns }: ShownAction): Readonly<Record<string, unknown>> {
  const { data, extraCurrencies, ...own } = columns;
  const values = Object.entries(own).map(([name, value]) => [
    name.replaceAll(/(?<=.)([A-Z])/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return {
    type,
    success,
    ...(Object.fromEntries(values) as StoredColumns),
    ...(extraCurrencies !== undefined && { value_extra_currencies: extraCurrencies }),
    ...(data as StoredColumns | undefined),
  };
}

const addressPattern = /^-?\d+:[0-9A-F]{64}$/;

/** Shortest address in characters: most texts are shorter, and are skipped. */
const ADDRESS_LETTERS_MIN = '0:'.length + 64;

/** Every account in the actions, with duplicates. */
export function addressesOfActions(actions: readonly ShownAction[], views: readonly ActionView[]): readonly string[] {
  const found: string[] = [];
  for (const { columns, accounts } of actions) {
    for (const one of accounts) found.push(one);
    addAddressesIn(columns, found);
  }
  for (const { details } of views) addAddressesIn(details, found);
  return found;
}

function addAddressesIn(value: unknown, found: string[]): void {
  if (typeof value === 'string') {
    if (value.length >= ADDRESS_LETTERS_MIN && addressPattern.test(value)) found.push(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const name in value) addAddressesIn((value as Readonly<Record<string, unknown>>)[name], found);
  }
}
