import { viewInteger, type JsonInteger } from '#service/contract/json-integer.ts';
import { createTimeSlice } from '#service/runtime/time-slice.ts';
import { map, named, object, optional, scalar, type Infer } from '#service/contract/shape.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import type { ActionRow } from '#service/store/classification-tables.ts';
import { findActions, findTransactionsOfActions } from '#service/store/queries/actions.ts';
import { findJettonWallets } from '#service/store/queries/jettons.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { findTraces, findTransactionsOfTraces } from '#service/store/queries/traces.ts';
import type { FoundTransaction } from '#service/store/queries/transactions.ts';
import {
  messagesSentBy,
  sumBalances,
  type BalanceSums,
  type MovingTransaction,
  type WalletOwner,
} from '../views/balance-sums.ts';
import { notIndexed, V3Error } from '../request/errors.ts';
import { defineV3Operation, type V3Operation } from '../request/operation.ts';
import { hash } from '../request/parameters.ts';
import { intString, rawAddress, viewAccountKey } from '../request/scalars.ts';

const nanotons = scalar<JsonInteger>({ type: 'integer' });

const balanceChangesResult = named(
  'BalanceChangesResult',
  object({
    changes: map(nanotons, rawAddress),
    fees: map(nanotons, rawAddress),
    jettons: map(map(intString, rawAddress), rawAddress),
    extra_currencies: optional(map(map(intString), rawAddress)),
  }),
);

/** Larger traces are refused, because they are not rendered either. */
const TRANSACTIONS_MAX = 4000;

/** Operations on balance changes of traces and actions (service/v3/README.md#balance-changes). */
export function balanceChangeOperations(): readonly V3Operation[] {
  return [
    defineV3Operation({
      name: 'balanceChanges',
      tag: 'actions',
      summary: 'Changes of balances by a trace, or by one action of it, and the fees.',
      parameters: { traceId: hash('trace_id'), actionId: hash('action_id') },
      failures: [400, 404],
      result: balanceChangesResult,
      handle: async ({ traceId, actionId }, { store }) => {
        const { rows, startLt } = await readRows(store, traceId, actionId);
        const all = await openAll(rows, store.signal);
        const own = all.filter(({ transaction }) => transaction.lt >= startLt || isFromOutside(transaction));
        return viewSums(sumOf(own, messagesSentBy(all), await readWallets(store, rows)));
      },
    }),
  ];
}

type Changing = {
  readonly rows: readonly FoundTransaction[];
  /** Start lt of the action. Causes of an action are earlier, and changed its account's balance by other messages too. */
  readonly startLt: bigint;
};

async function readRows(
  store: StoreReader,
  traceId: Buffer | undefined,
  actionId: Buffer | undefined,
): Promise<Changing> {
  if (actionId !== undefined) {
    const action = await findAction(store, traceId, actionId);
    if (action === undefined) throw notIndexed('action not found');
    return { rows: await findTransactionsOfActions(store, [action]), startLt: action.start_lt };
  }
  if (traceId === undefined) throw new V3Error('nothing_named', 'trace_id or action_id is required');
  const page = { limit: 1, offset: 0, sort: 'desc' } as const;
  const [trace] = await findTraces(store, { traceIds: [traceId], txHashes: [], msgHashes: [] }, page);
  if (trace === undefined) throw notIndexed('trace not found');
  if (trace.nodes > TRANSACTIONS_MAX) throw new V3Error('answer_too_large', 'trace is too large');
  return { rows: await findTransactionsOfTraces(store, [trace]), startLt: 0n };
}

async function findAction(
  store: StoreReader,
  traceId: Buffer | undefined,
  actionId: Buffer,
): Promise<ActionRow | undefined> {
  const given = { actionIds: [actionId], traceIds: traceId === undefined ? [] : [traceId] };
  const none = { txHashes: [], msgHashes: [], types: [], excludedTypes: [], supported: undefined };
  const [action] = await findActions(store, { ...none, ...given }, { limit: 1, offset: 0, sort: 'desc' });
  return action;
}

/** A message from outside belongs to the action itself. */
function isFromOutside({ inMessage }: MovingTransaction['transaction']): boolean {
  return inMessage?.info.kind === 'externalIn';
}

function open({ boc, workchain }: FoundTransaction): MovingTransaction {
  const table = parseBoc(boc);
  return { table, transaction: readTransaction(table, table.roots[0]!), workchain };
}

async function openAll(
  rows: readonly FoundTransaction[],
  signal: AbortSignal | undefined,
): Promise<readonly MovingTransaction[]> {
  const timeSlice = createTimeSlice(signal);
  const opened: MovingTransaction[] = [];
  for (const row of rows) {
    await timeSlice.pause();
    opened.push(open(row));
  }
  return opened;
}

/** The jetton wallets among the accounts of transactions. */
async function readWallets(
  store: StoreReader,
  rows: readonly FoundTransaction[],
): Promise<ReadonlyMap<string, WalletOwner>> {
  const addresses = [...new Map(rows.map(({ account }) => [viewAccountKey(account), account])).values()];
  if (addresses.length === 0) return new Map();
  const filter = { addresses, owners: [], jettons: [], excludesEmpty: false };
  const wallets = await findJettonWallets(store, filter, { limit: addresses.length, offset: 0 });
  return new Map(
    wallets.map(({ address, owner, jetton }) => [
      viewAccountKey(address),
      { owner: viewAccountKey(owner), jetton: viewAccountKey(jetton) },
    ]),
  );
}

function sumOf(...given: Parameters<typeof sumBalances>): BalanceSums {
  try {
    return sumBalances(...given);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new V3Error('answer_too_large', 'trace moves too many extra currencies');
  }
}

function viewSums({ changes, fees, jettons, extraCurrencies }: BalanceSums): Infer<typeof balanceChangesResult> {
  return {
    changes: Object.fromEntries([...changes].map(([account, sum]) => [account, viewInteger(sum)])),
    fees: Object.fromEntries([...fees].map(([account, sum]) => [account, viewInteger(sum)])),
    jettons: Object.fromEntries([...jettons].map(([owner, own]) => [owner, viewUnits(own)])),
    // Clients of the published document do not expect this field: it is present only with a value.
    ...(extraCurrencies.size > 0 && {
      extra_currencies: Object.fromEntries([...extraCurrencies].map(([account, own]) => [account, viewUnits(own)])),
    }),
  };
}

/** Units by jetton or currency. */
function viewUnits(own: ReadonlyMap<string | number, bigint>): Readonly<Record<string, string>> {
  return Object.fromEntries([...own].map(([name, sum]) => [name, sum.toString()]));
}
