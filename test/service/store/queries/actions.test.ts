import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ActionRow } from '#service/store/classification-tables.ts';
import {
  actionOrder,
  findActions,
  findActionsOfTraces,
  findTransactionsOfActions,
  type ActionFilter,
} from '#service/store/queries/actions.ts';
import { positionOf, type Position } from '#service/store/queries/order.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { SortedPage } from '#service/store/queries/transactions.ts';
import type { TraceRow } from '#service/store/tables.ts';
import {
  madeTypes,
  makeActions,
  readMadeTransactions,
  writeActions,
  type MadeTransaction,
} from '#test/support/made-actions.ts';
import { createRecordedIndex } from '#test/support/recorded-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';

let index: StoreUnderTest;
let reader: StoreReader;
let transactions: readonly MadeTransaction[];
let traces: readonly TraceRow[];
let actions: readonly ActionRow[];
let byHash: ReadonlyMap<string, MadeTransaction>;

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const idsOf = (rows: readonly ActionRow[]): string[] => rows.map((row) => text(row.action_id));

const everything = { txHashes: [], msgHashes: [], actionIds: [], traceIds: [], types: [], excludedTypes: [] };
const supported = ['ton_transfer', 'jetton_swap', 'jetton_transfer', 'layerzero_send'];
const all: ActionFilter = { ...everything, supported };

beforeAll(async () => {
  index = await createRecordedIndex(import.meta.filename);
  reader = { read: (sql, values) => index.store.read(sql, values) };
  transactions = await readMadeTransactions(index.store);
  byHash = new Map(transactions.map((one) => [text(one.hash), one]));
  traces = await reader.read<TraceRow>('SELECT * FROM traces', []);
  actions = makeActions(traces, transactions);
  await writeActions(index.store, actions);
  // As what was told before lists said types, and before they said ancestors.
  await index.store.transaction(({ query }) =>
    query(
      `UPDATE action_accounts SET type = CASE WHEN get_byte(trace_id, 0) % 4 = 0 THEN '' ELSE type END, ancestor_types = NULL
        WHERE get_byte(trace_id, 0) % 2 = 0`,
    ),
  );
});
afterAll(() => index.close());

const has = (list: readonly Uint8Array[], one: Uint8Array): boolean => list.some((item) => text(item) === text(one));

/** What a filter lets through, one action at a time. */
function lets(filter: ActionFilter, row: ActionRow): boolean {
  const held = row.tx_hashes.map((hash) => byHash.get(text(hash))!);
  const { account, txHashes, msgHashes, actionIds, traceIds, mcSeqno, types, excludedTypes } = filter;
  const known = filter.supported ?? madeTypes;
  return [
    account === undefined || has(row.accounts, account),
    txHashes.length === 0 || txHashes.some((hash) => has(row.tx_hashes, hash)),
    msgHashes.length === 0 || msgHashes.some((hash) => held.some(({ messages }) => messages.has(text(hash)))),
    actionIds.length === 0 || has(actionIds, row.action_id),
    traceIds.length === 0 || has(traceIds, row.trace_id),
    mcSeqno === undefined || row.trace_mc_seqno_end === mcSeqno,
    (filter.startUtime ?? 0) <= row.trace_end_utime && (filter.endUtime ?? Infinity) >= row.trace_end_utime,
    (filter.startLt ?? 0n) <= row.trace_end_lt && (filter.endLt ?? row.trace_end_lt) >= row.trace_end_lt,
    (types.length > 0 ? types : known).includes(row.type),
    !excludedTypes.includes(row.type),
    filter.supported === undefined || !row.ancestor_types.some((type) => known.includes(type)),
  ].every(Boolean);
}

function expected(filter: ActionFilter, { limit, offset, sort }: SortedPage): string[] {
  const byTime = filter.startUtime !== undefined || filter.endUtime !== undefined;
  const keyOf = (row: ActionRow): readonly string[] => [
    (byTime ? row.trace_end_utime : row.trace_end_lt).toString().padStart(20, '0'),
    text(row.trace_id),
    (byTime ? row.end_utime : row.end_lt).toString().padStart(20, '0'),
    text(row.action_id),
  ];
  const turn = sort === 'asc' ? 1 : -1;
  const compare = (a: ActionRow, b: ActionRow): number => (keyOf(a).join() < keyOf(b).join() ? -turn : turn);
  const found = actions.filter((row) => lets(filter, row)).toSorted(compare);
  return idsOf(found.slice(offset, offset + limit));
}

const startOf = (row: ActionRow): string =>
  [text(row.trace_id), row.start_lt.toString().padStart(20), row.end_lt.toString().padStart(20)].join();

const names = [
  'account',
  'txHashes',
  'msgHashes',
  'actionIds',
  'traceIds',
  'mcSeqno',
  'utime',
  'lt',
  'types',
  'excludedTypes',
] as const;

/** Any mixture of filters; `one` and `near` are of one trace as often as not. */
const filters = fc
  .tuple(fc.nat(), fc.nat(), fc.subarray([...names]), fc.integer({ min: 0, max: 30 }), fc.subarray(madeTypes))
  .map(([at, other, chosen, wide, types]): ActionFilter => {
    const row = actions[at % actions.length]!;
    const far = actions[other % actions.length]!;
    const near = actions.filter(({ trace_id: id }) => text(id) === text(row.trace_id)).at(-1)!;
    const [transaction] = near.tx_hashes;
    const [message] = byHash.get(text(near.tx_hashes.at(-1)!))!.messages;
    const values: Readonly<Record<(typeof names)[number], Partial<ActionFilter>>> = {
      account: { account: row.accounts[0]! },
      txHashes: { txHashes: [transaction!, far.tx_hashes[0]!] },
      msgHashes: { msgHashes: message === undefined ? [] : [Buffer.from(message, 'hex')] },
      actionIds: { actionIds: [row.action_id, far.action_id] },
      traceIds: { traceIds: [row.trace_id, far.trace_id] },
      mcSeqno: { mcSeqno: row.trace_mc_seqno_end },
      utime: { startUtime: row.trace_end_utime - wide, endUtime: row.trace_end_utime + wide },
      lt: { startLt: row.trace_end_lt - BigInt(wide * 1_000_000) },
      types: { types: [...types, ...types.slice(0, 1)] },
      excludedTypes: { excludedTypes: types.slice(1) },
    };
    return Object.assign({}, all, ...chosen.map((name) => values[name])) as ActionFilter;
  });

const pages = fc.record({
  limit: fc.constantFrom(1, 3, 100),
  offset: fc.constantFrom(0, 0, 2, 50),
  sort: fc.constantFrom('asc' as const, 'desc' as const),
});

describe('actions', () => {
  it('are what any mixture of filters lets through, all of it, in the order of the contract', async () => {
    let some = 0;
    await fc.assert(
      fc.asyncProperty(filters, pages, async (filter, page) => {
        const wanted = expected(filter, page);
        some += Math.min(1, wanted.length);
        expect(idsOf(await findActions(reader, filter, page))).toEqual(wanted);
      }),
      { seed: 7, numRuns: 150 },
    );
    expect(some).toBeGreaterThan(40);
  });

  it('of some traces are those that the caller knows, in the order of what happened', async () => {
    const some = traces.filter((_row, at) => at % 50 === 0).map((row) => row.trace_id);
    const found = await findActionsOfTraces(reader, some, supported);
    const wanted = actions.filter((row) => lets({ ...all, traceIds: some }, row));
    expect(found.map(startOf)).toEqual(wanted.map(startOf).toSorted());
  });

  it('have all their transactions, also the one that their first message came from', async () => {
    const some = actions.filter((_row, at) => at % 97 === 0);
    const found = await findTransactionsOfActions(reader, some);
    const wanted = new Set(some.flatMap((row) => row.tx_hashes.map(text)));
    expect(new Set(found.map(({ hash }) => text(hash)))).toEqual(wanted);
    expect(await findTransactionsOfActions(reader, [])).toEqual([]);
  });
});

describe('actions behind a place', () => {
  it.each(['asc', 'desc'] as const)('are the rest of the list, %s, whatever is written in between', async (sort) => {
    for (const window of [{}, { startUtime: 1 }]) {
      const filter = { ...all, ...window };
      const before = expected(filter, { limit: 1e9, offset: 0, sort });
      const seen: string[] = [];
      let after: Position | undefined;
      for (let page = 0; ; page++) {
        const rows = await findActions(reader, filter, { limit: 97, offset: 0, sort, after });
        seen.push(...idsOf(rows));
        if (rows.length < 97) break;
        after = positionOf(actionOrder(filter, { sort }), rows.at(-1)!);
        const fresh = makeActions(
          [traces[(page * 31) % traces.length]!],
          transactions,
          `${sort} ${page} ${Object.keys(window).length}`,
        );
        await writeActions(index.store, fresh);
        actions = [...actions, ...fresh];
      }
      expect(new Set(seen).size).toBe(seen.length);
      const old = new Set(before);
      expect(seen.filter((id) => old.has(id))).toEqual(before);
    }
  });
});
