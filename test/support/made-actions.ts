import { createHash } from 'node:crypto';

import { parseBoc } from '#service/decode/boc.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import { createInserts } from '#service/store/insert.ts';
import { accountRows } from '#service/interpreter/action-rows.ts';
import { actionAccounts, actions, type ActionRow } from '#service/store/classification-tables.ts';
import type { Store } from '#service/store/store.ts';
import type { TraceRow } from '#service/store/tables.ts';

/** A transaction of the recorded chain with the messages that it took and sent. */
export type MadeTransaction = {
  readonly hash: Buffer;
  readonly lt: bigint;
  readonly utime: number;
  readonly account: Buffer;
  readonly trace_id: Buffer;
  /** Hex of hashes. */
  readonly messages: ReadonlySet<string>;
};

type Row = Omit<MadeTransaction, 'messages'> & { readonly boc: Buffer };

export async function readMadeTransactions(store: Pick<Store, 'read'>): Promise<readonly MadeTransaction[]> {
  const rows = await store.read<Row>(
    'SELECT hash, lt, utime, account, trace_id, boc FROM transactions ORDER BY lt, account',
    [],
  );
  return rows.map(({ boc, ...row }) => {
    const table = parseBoc(boc);
    const { inMessage, outMessages } = readTransaction(table, table.roots[0]!);
    const all = inMessage === undefined ? outMessages : [inMessage, ...outMessages];
    return { ...row, messages: new Set(all.map(({ cell }) => table.hash(cell).toString('hex'))) };
  });
}

/** Types of made actions: one that no version has, too. */
export const madeTypes = ['ton_transfer', 'jetton_swap', 'jetton_transfer', 'layerzero_send', 'tgbtc_mint', 'unheard'];

/**
 * Actions of recorded traces, some of them parts of others, by rules that need no classifier: each has some transactions of its trace, a type and
 * ancestors by its number.
 * @param salt makes others of the same traces
 */
export function makeActions(
  traces: readonly TraceRow[],
  transactions: readonly MadeTransaction[],
  salt = '',
): readonly ActionRow[] {
  const ofTrace = Map.groupBy(transactions, (one) => one.trace_id.toString('hex'));
  return traces.flatMap((trace) => {
    const own = ofTrace.get(Buffer.from(trace.trace_id).toString('hex')) ?? [];
    const digest = createHash('sha256').update(trace.trace_id).update(salt).digest();
    return Array.from({ length: 1 + (digest[0]! % 3) }, (_none, at) => {
      const some = own.filter((_one, place) => (place + at) % (1 + (digest[1]! % 3)) === 0);
      const held = some.length === 0 ? own.slice(0, 1) : some;
      const first = held[0]!;
      const last = held.at(-1)!;
      return {
        trace_id: trace.trace_id,
        action_id: createHash('sha256').update(digest).update(Buffer.of(at)).digest(),
        type: madeTypes[digest[2 + at]! % madeTypes.length]!,
        start_lt: first.lt,
        end_lt: last.lt,
        start_utime: first.utime,
        end_utime: last.utime,
        trace_end_lt: trace.end_lt,
        trace_end_utime: trace.end_utime,
        trace_mc_seqno_end: trace.mc_seqno_end,
        trace_external_hash: trace.external_hash,
        trace_external_hash_norm: null,
        success: true,
        parent_action_id: null,
        ancestor_types: digest[8 + at]! % 4 === 0 ? [madeTypes[digest[12 + at]! % madeTypes.length]!] : [],
        tx_hashes: held.map(({ hash }) => hash),
        accounts: [...new Map(held.map(({ account }) => [account.toString('hex'), account])).values()],
        columns: { value: '1' },
      };
    });
  });
}

/** Puts actions where the interpreter would. */
export async function writeActions(store: Pick<Store, 'transaction'>, rows: readonly ActionRow[]): Promise<void> {
  await store.transaction(async (session) => {
    const inserts = createInserts(session, 'unnest');
    await inserts.add(actions, rows);
    await inserts.add(actionAccounts, rows.flatMap(accountRows));
  });
}
