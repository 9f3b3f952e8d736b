import { Address, comment } from '@ton/core';

import { classify } from '#service/actions/classify.ts';
import type { Interfaces } from '#service/actions/engine/interfaces.ts';
import { traceMeaning } from '#service/interpreter/action-rows.ts';
import {
  actionAccounts,
  actions,
  dnsEntries,
  multisigOrders,
  multisigs,
  traceClassifications,
  vestingContracts,
  type ActionRow,
} from '#service/store/classification-tables.ts';
import type { Store } from '#service/store/store.ts';
import { orderOf, sendStep } from '#test/support/multisig-orders.ts';
import { readRecordedTrace, recordedTraceFiles } from '#test/support/recorded-traces.ts';
import { generated, generateRows, skewed, transactionsOfTrace, type Filling } from './generated-index.ts';
import { tokenKeys, type TokenCounts } from './generated-tokens.ts';

// Names, multisigs, vestings and actions, made inside Postgres from their numbers. Every trace is told as one action or two; what those say is said by actions
// of recorded mainnet traces, told anew.

const { lt, utime, hash, block, accountAt } = generated;

/** Of so many items one is a name. */
const itemsOfName = 5;
/** As nobody knows how many there are: more than on mainnet. */
const multisigCount = 100_000;
const ordersOfMultisig = 3;
/** As many again. */
const vestingCount = 100_000;
/** Of so many traces one is told as two actions. */
const tracesOfSecond = 4;

/** Keys of accounts that are multisigs. */
export const multisigKey = (n: string): string => `'\\x80'::bytea || ${hash('multisig', n)}`;

/** Keys of accounts that are vestings. */
export const vestingKey = (n: string): string => `'\\x80'::bytea || ${hash('vesting', n)}`;

/** How many names, multisigs, vestings and traces that are told. */
export function meaningsOf({ transactions, items }: TokenCounts): {
  readonly names: number;
  readonly multisigs: number;
  readonly vestings: number;
  readonly traces: number;
} {
  return {
    names: Math.ceil(items / itemsOfName),
    multisigs: Math.min(multisigCount, transactions),
    vestings: Math.min(vestingCount, transactions),
    traces: Math.ceil(transactions / transactionsOfTrace),
  };
}

const tables = [
  dnsEntries,
  multisigs,
  multisigOrders,
  vestingContracts,
  traceClassifications,
  actions,
  actionAccounts,
].map(({ name }) => name);

export async function generateMeaning(store: Store, counts: TokenCounts, tell: (text: string) => void): Promise<void> {
  await loadTemplates(store, readToldTraces());
  await generateRows(store, tables, meaningFillings(counts), tell);
}

/** A recorded trace: the actions that it is told as, and what is known of its accounts. */
export type ToldTrace = { readonly actions: readonly ActionRow[]; readonly interfaces: Interfaces };

/** Recorded traces, whose actions are told anew in the index; none where the fixtures are missing. */
export function readToldTraces(): readonly ToldTrace[] {
  return recordedTraceFiles()
    .map(readRecordedTrace)
    .map(({ trace, interfaces }) => ({
      actions: traceMeaning(trace, classify(trace, interfaces), 1).actions,
      interfaces,
    }));
}

/** What recorded traces were told as; those of traces that are not here are one transfer. */
async function loadTemplates(store: Store, told: readonly ToldTrace[]): Promise<void> {
  const types = told
    .flatMap(({ actions: rows }) => rows)
    .map(({ type, ancestor_types: ancestors, columns }) => ({ type, ancestors, columns }));
  const templates = types.length > 0 ? types : [{ type: 'ton_transfer', ancestors: [], columns: {} }];
  await store.transaction(async ({ query }) => {
    await query(
      `CREATE TABLE action_templates (place integer PRIMARY KEY, type text NOT NULL, ancestors text[] NOT NULL, columns jsonb NOT NULL)`,
    );
    await query(
      `INSERT INTO action_templates SELECT place - 1, given ->> 'type',
         ARRAY(SELECT jsonb_array_elements_text(given -> 'ancestors')), given -> 'columns'
       FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS list (given, place)`,
      [JSON.stringify(templates)],
    );
    await query(
      `CREATE FUNCTION action_count() RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT ${templates.length}'`,
    );
  });
}

/** What fills all of these tables. */
function meaningFillings(counts: TokenCounts): readonly Filling[] {
  return [...contractFillings(counts), ...actionFillings(counts)];
}

const state = (kind: string): string => `${lt('n')}, ${hash(`${kind} code`, '0')}, ${hash(`${kind} data`, 'n')}`;

function contractFillings(counts: TokenCounts): readonly Filling[] {
  const { names, multisigs: wallets, vestings } = meaningsOf(counts);
  const holder = (kind: string, n = 'n'): string => accountAt(skewed(kind, n, counts.accounts));
  const party = (kind: string, size: number, n = 'n'): string =>
    `ARRAY[${Array.from({ length: size }, (_, at) => holder(`${kind} ${at}`, n)).join(', ')}]`;
  const step = sendStep({ to: new Address(0, Buffer.alloc(32, 7)), value: 1_000_000_000n, body: comment('salary') });
  const order = `'\\x${orderOf([step, step]).toBoc().toString('hex')}'::bytea`;
  // An order takes the signers of its multisig with it.
  const owner = `(n / ${ordersOfMultisig})`;
  return [
    {
      what: 'names',
      count: names,
      statement: (numbers) => `INSERT INTO dns_entries (nft_item, nft_item_owner, domain, wallet, last_trans_lt)
        SELECT ${tokenKeys.item('n')}, ${holder('name owner')}, 'name-' || n || '.ton',
          CASE WHEN n % 2 = 0 THEN ${holder('name owner')} ELSE ${holder('name wallet')} END, ${lt('n')} FROM ${numbers}`,
    },
    {
      what: 'multisigs',
      count: wallets,
      statement: (
        numbers,
      ) => `INSERT INTO multisigs (address, next_order_seqno, threshold, signers, proposers, last_trans_lt, code_hash, data_hash)
        SELECT ${multisigKey('n')}, ${ordersOfMultisig}, 2, ${party('signer', 3)}, ${party('proposer', 1)}, ${state('multisig')} FROM ${numbers}`,
    },
    {
      what: 'orders',
      count: wallets * ordersOfMultisig,
      statement: (
        numbers,
      ) => `INSERT INTO multisig_orders (address, multisig, order_seqno, threshold, sent_for_execution, approvals_mask, approvals_num,
          expiration_date, order_boc, signers, last_trans_lt, code_hash, data_hash)
        SELECT '\\x80'::bytea || ${hash('multisig order', 'n')}, ${multisigKey(owner)}, n % ${ordersOfMultisig}, 2, n % 2 = 0, 3, 2,
          ${utime('n')} + 86400, ${order}, ${party('signer', 3, owner)}, ${state('order')} FROM ${numbers}`,
    },
    {
      what: 'vestings',
      count: vestings,
      statement: (
        numbers,
      ) => `INSERT INTO vesting_contracts (address, start_time, total_duration, unlock_period, cliff_duration, total_amount, sender, owner, whitelist,
          last_trans_lt, code_hash, data_hash)
        SELECT ${vestingKey('n')}, ${utime('n')}, 31536000, 2592000, 0, 1000000000000, ${holder('vesting sender')}, ${holder('vesting owner')},
          ${party('whitelisted', 2)}, ${state('vesting')} FROM ${numbers}`,
    },
  ];
}

function actionFillings(counts: TokenCounts): readonly Filling[] {
  const { traces } = meaningsOf(counts);
  const [first, last] = [`n * ${transactionsOfTrace}`, `n * ${transactionsOfTrace} + ${transactionsOfTrace - 1}`];
  const party = (at: number): string =>
    accountAt(skewed('account', `n * ${transactionsOfTrace} + ${at}`, counts.accounts));
  const ends = `${lt(last)}, ${utime(last)}`;
  const place = `(n * 7 + second) % action_count()`;
  return [
    {
      what: 'classifications',
      count: traces,
      statement: (numbers) =>
        `INSERT INTO trace_classifications (trace_id, state, version) SELECT ${hash('t', first)}, 2, 1 FROM ${numbers}`,
    },
    {
      what: 'actions of traces',
      count: traces,
      statement: (numbers) => `WITH made AS (
          INSERT INTO actions (trace_id, action_id, type, start_lt, end_lt, start_utime, end_utime, trace_end_lt, trace_end_utime,
            trace_mc_seqno_end, trace_external_hash, trace_external_hash_norm, success, ancestor_types, tx_hashes, accounts, columns)
          SELECT ${hash('t', first)}, ${hash('a', 'n * 2 + second')}, type, ${lt(first)}, ${lt(`${last} - 2 + second`)}, ${utime(first)}, ${utime(last)}, ${ends},
            ${block(last)}, ${hash('m', first)}, ${hash('n', first)}, true, ancestors,
            ARRAY[${hash('t', first)}, ${hash('t', `${first} + 1 + second`)}], ARRAY[${[0, 1, 2].map(party).join(', ')}], columns
          FROM ${numbers} CROSS JOIN LATERAL generate_series(0, CASE WHEN n % ${tracesOfSecond} = 0 THEN 1 ELSE 0 END) second
          JOIN action_templates ON place = ${place}
          RETURNING accounts, trace_id, action_id, trace_end_lt, trace_end_utime, end_lt, end_utime, type, ancestor_types)
        INSERT INTO action_accounts (account, trace_id, action_id, trace_end_lt, trace_end_utime, end_lt, end_utime, type, ancestor_types)
        SELECT DISTINCT unnest(accounts), trace_id, action_id, trace_end_lt, trace_end_utime, end_lt, end_utime, type, ancestor_types FROM made`,
    },
  ];
}
