import { describe, expect, it } from 'vitest';

import { noColumns } from '#service/actions/engine/action-rows.ts';
import type { PendingTrace } from '#service/pending/pending.ts';
import { pendingOperations } from '#service/v3/operations/pending.ts';
import { recordedRows } from '#test/support/recorded-index.ts';

const hash = (byte: number): Buffer => Buffer.alloc(32, byte);
const account = `0:${'A'.repeat(64)}`;

function traceOf(parts: Partial<PendingTrace>): PendingTrace {
  const hashes = { key: hash(1), messageHash: hash(1), rootHash: hash(2) };
  const empty = { message: Buffer.alloc(0), accounts: [], states: [], actions: [], transactions: [] };
  const sent = { sentUnixMs: 0, sinceUtime: 0, left: 0, version: 11 };
  return { ...hashes, ...empty, ...sent, classificationState: 'ok', ...parts };
}

/** Asks an operation while some traces are pending. */
function ask(name: string, given: Readonly<Record<string, string>>, traces: readonly PendingTrace[]): Promise<unknown> {
  const notes = { notesOf: async () => ({ address_book: {}, metadata: {} }), bookOf: async () => ({}) };
  const pending = { find: async () => traces };
  const operations = pendingOperations({ pending, notes, network: { testOnly: true } } as never);
  const search = new URLSearchParams(given);
  return operations
    .find((one) => one.name === name)!
    .run(
      {
        kind: 'query',
        names: [...search.keys()],
        get: (parameter) => search.get(parameter) ?? undefined,
        getAll: (parameter) => search.getAll(parameter),
      },
      { settings: {}, signal: new AbortController().signal, store: {} } as never,
    );
}

describe('pendingTransactions', () => {
  it('of a trace without transactions to show is a list without entries; without a trace it is 404', async () => {
    expect(await ask('pendingTransactions', { account }, [traceOf({})])).toMatchObject({
      value: { transactions: [], address_book: {} },
    });
    await expect(ask('pendingTransactions', { account }, [])).rejects.toMatchObject({
      code: 'not_indexed',
      message: 'emulated traces not found',
    });
  });
});

describe('actions of pending traces', () => {
  type Shown = { readonly end_lt: string; readonly start_lt: string; readonly accounts: readonly string[] };
  const spans = (actions: readonly Shown[]): unknown => actions.map((one) => [one.end_lt, one.start_lt]);

  const newest = [
    ['19', '13'],
    ['19', '12'],
    ['12', '11'],
  ];
  const oldest = [
    ['9', '3'],
    ['9', '2'],
    ['2', '1'],
  ];

  it('are newest first in pendingActions, the newest trace before, and name their accounts', async () => {
    const { value } = (await ask('pendingActions', { account }, await twoTraces())) as { value: { actions: Shown[] } };
    expect(spans(value.actions)).toEqual([...newest, ...oldest]);
    expect(value.actions.map((one) => one.accounts)).toEqual(Array.from({ length: 6 }, () => [account]));
  });

  it('are newest first in each of pendingTraces, and name their accounts', async () => {
    const answer = await ask('pendingTraces', { account }, await twoTraces());
    const shown = (answer as { value: { traces: { actions: Shown[] }[] } }).value.traces.map((one) => one.actions);
    expect(shown.map(spans)).toEqual([oldest, newest]);
    expect(shown.flat().map((one) => one.accounts)).toEqual(Array.from({ length: 6 }, () => [account]));
  });
});

describe('pendingActions', () => {
  it('are refused when the copies of one transaction are too large together', async () => {
    const rows = (await recordedRows()).flatMap(({ transactions }) => transactions);
    const row = rows.reduce((largest, one) => (one.boc.length > largest.boc.length ? one : largest));
    const action = {
      ...noColumns,
      type: 'ton_transfer',
      ancestorTypes: [],
      accounts: [],
      transactions: [text(row.hash)],
    };
    // The transaction has more than 2 KiB of JSON.
    const actions = Array.from({ length: 32_768 }, () => action) as unknown as PendingTrace['actions'];
    const transactions = [{ workchain: row.workchain, boc: Buffer.from(row.boc) }];
    const given = { ext_msg_hash: hash(1).toString('hex'), include_transactions: 'true' };
    await expect(ask('pendingActions', given, [traceOf({ actions, transactions })])).rejects.toMatchObject({
      code: 'answer_too_large',
      message: 'the transactions of these actions are larger than 64 MiB: leave out include_transactions',
    });
  });
});

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

/** Two traces, the older first, each with actions in the order of its tree. */
async function twoTraces(): Promise<readonly PendingTrace[]> {
  const rows = (await recordedRows()).flatMap(({ transactions }) => transactions).toSorted(byLt);
  return [rows[0]!, rows.at(-1)!].map((row, at) =>
    traceOf({
      key: hash(at),
      transactions: [{ workchain: row.workchain, boc: Buffer.from(row.boc) }],
      actions: [actionAt(at, 1n, 2n), actionAt(at, 3n, 9n), actionAt(at, 2n, 9n)],
    }),
  );
}

function byLt(one: { readonly lt: bigint }, other: { readonly lt: bigint }): number {
  return Number(one.lt - other.lt);
}

function actionAt(trace: number, startLt: bigint, endLt: bigint): PendingTrace['actions'][number] {
  const own = { type: 'ton_transfer', ancestorTypes: [], accounts: [account], transactions: [] };
  const lts = { startLt: startLt + BigInt(trace * 10), endLt: endLt + BigInt(trace * 10) };
  return { ...noColumns, ...own, ...lts } as unknown as PendingTrace['actions'][number];
}
