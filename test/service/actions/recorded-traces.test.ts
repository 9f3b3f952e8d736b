import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import type { ClassifierTrace } from '#service/actions/engine/classifier-input.ts';
import type { Matcher } from '#service/actions/engine/matcher.ts';
import type { Action } from '#service/actions/engine/action-rows.ts';
import { filledRow } from '#test/support/recorded-actions.ts';
import { readRecordedTrace, recordedTraceFiles } from '#test/support/recorded-traces.ts';
import { skipLoudly } from '#test/support/skips.ts';

type Row = Readonly<Record<string, unknown>>;

const files = recordedTraceFiles();

/** An action as the recordings list rows: without what is null, bigints as text, sets sorted. */
function rowOf(action: Action): Row {
  const { data, extraCurrencies, mcSeqnoEnd, transactions, accounts, ancestorTypes, ...rest } = action;
  const snake = Object.entries(rest).map(([name, value]) => [
    name === 'asset2Secondary' ? 'asset2_secondary' : name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  const row = {
    ...(Object.fromEntries(snake) as Row),
    ...data,
    value_extra_currencies: extraCurrencies,
    mc_seqno_end: mcSeqnoEnd,
    tx_hashes: transactions.toSorted(),
    accounts: accounts.toSorted(),
    ...(action.parentActionId !== null && { ancestor_type: ancestorTypes.toSorted() }),
  };
  return plain(row) as Row;
}

/** The fields of an object in one order. */
function textOf(value: unknown): string {
  return JSON.stringify(Object.entries(value as Row).toSorted(([one], [other]) => one.localeCompare(other)));
}

/** A list whose order says nothing. */
function asSet(row: Row): Row {
  const group = row['dex_deposit_liquidity_data'] as Row | undefined;
  const excesses = group?.['vault_excesses'];
  if (!Array.isArray(excesses)) return row;
  const sorted = excesses.toSorted((one, other) => textOf(one).localeCompare(textOf(other)));
  return { ...row, dex_deposit_liquidity_data: { ...group, vault_excesses: sorted } };
}

function plain(value: unknown): unknown {
  const json = JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? one.toString() : one));
  const read = JSON.parse(json) as Row;
  return Object.fromEntries(Object.entries(read).filter(([, one]) => one !== null));
}

/** What the trace says of every row alike. */
const ofTheTrace = [
  'trace_end_lt',
  'trace_end_utime',
  'trace_external_hash',
  'trace_external_hash_norm',
  'trace_mc_seqno_end',
  'finality',
] as const;

function without(row: Row, names: readonly string[]): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
}

/** The same of a recorded row; what the trace says of every row alike is left out. */
function recorded(row: Row): Row {
  const rest = without(filledRow(row), ofTheTrace);
  return {
    ...rest,
    tx_hashes: (row['tx_hashes'] as string[]).toSorted(),
    accounts: (row['accounts'] as string[]).toSorted(),
    ...(row['ancestor_type'] !== undefined && { ancestor_type: (row['ancestor_type'] as string[]).toSorted() }),
  };
}

const byId = (rows: readonly Row[]): Record<string, Row> =>
  Object.fromEntries(rows.map((row) => [`${String(row['type'])} ${String(row['action_id'])}`, asSet(row)]));

/** What a wallet was asked for and did not do: one transaction, from outside. */
const isGhost = ({ transactions }: ClassifierTrace): boolean =>
  transactions.length === 1 && transactions[0]!.inMessage?.source === null;

const ghosts = files.filter((file) => isGhost(readRecordedTrace(file).trace));

describe.skipIf(
  skipLoudly(files.length === 0, {
    what: 'actions of recorded traces',
    why: 'mainnet-traces is not among the fixtures',
  }),
)('the actions of a recorded trace', () => {
  it.each(files.map((file) => [readRecordedTrace(file)]))('$name', ({ trace, interfaces, expected }) => {
    const { state, actions } = classify(trace, interfaces);
    expect(byId(actions.map(rowOf))).toEqual(byId(expected.action_rows.map(recorded)));
    expect(state).toBe(expected.classification_state);
  });

  it.skipIf(
    skipLoudly(ghosts.length === 0, {
      what: 'a message from outside that says nothing',
      why: 'no recorded trace is one message that came to nothing',
    }),
  )('is unknown when the message from outside says nothing', () => {
    for (const { trace, interfaces } of ghosts.map(readRecordedTrace)) {
      const [root] = trace.transactions;
      const inMessage = { ...root!.inMessage!, body: undefined, opcode: null };
      const emptied = { ...trace, transactions: [{ ...root!, inMessage }] };
      const { actions } = classify(emptied, interfaces);
      expect(actions).toMatchObject([
        { type: 'unknown', actionId: trace.traceId, transactions: [root!.hash], accounts: [root!.account] },
      ]);
    }
  });

  it('is told message by message when a matcher fails', () => {
    const broken: Matcher = {
      pattern: { test: () => true },
      build() {
        throw new Error('a defect');
      },
    };
    const basic = new Set(['ton_transfer', 'call_contract', 'contract_deploy', 'tick_tock', 'unknown']);
    for (const { trace, interfaces } of files.map(readRecordedTrace)) {
      const { state, actions } = classify(trace, interfaces, [broken]);
      expect(state).toBe('failed');
      expect(actions.filter(({ type }) => !basic.has(type))).toEqual([]);
      expect(actions.length).toBeGreaterThan(0);
    }
  });
});
