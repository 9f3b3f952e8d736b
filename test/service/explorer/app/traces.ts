import type { Action, Message, Trace, TraceNode, Transaction } from '#service/explorer/app/objects.ts';

/** A message between accounts with the given fields. */
export function messageOf(fields: Partial<Message> & Pick<Message, 'hash'>): Message {
  return {
    source: '0:A',
    destination: '0:B',
    value: '0',
    fwd_fee: '0',
    ihr_fee: '0',
    created_lt: '1',
    created_at: '1',
    opcode: null,
    bounce: true,
    bounced: false,
    message_content: null,
    init_state: null,
    ...fields,
  };
}

/** A transaction that succeeded, with the given fields. */
export function transactionOf(fields: Partial<Transaction> & Pick<Transaction, 'hash'>): Transaction {
  return {
    account: '0:B',
    lt: '1',
    now: 100,
    mc_block_seqno: 1,
    trace_id: null,
    prev_trans_hash: '',
    prev_trans_lt: '0',
    orig_status: 'active',
    end_status: 'active',
    total_fees: '0',
    description: { type: 'ord', aborted: false, compute_ph: { skipped: false, success: true, exit_code: 0 } },
    block_ref: { workchain: 0, shard: '8000000000000000', seqno: 1 },
    in_msg: null,
    out_msgs: [],
    account_state_before: null,
    account_state_after: null,
    ...fields,
  };
}

export function actionOf(type: string, details: Action['details'], success = true): Action {
  return { action_id: type, type, success, start_utime: 1, end_utime: 1, trace_id: null, transactions: [], details };
}

/** A chain of transactions, each the only child of the one before. */
export function chainOf(length: number): { trace: TraceNode; transactions: Record<string, Transaction> } {
  let trace: TraceNode = { tx_hash: `t${length - 1}`, children: [] };
  for (let index = length - 2; index >= 0; index--) trace = { tx_hash: `t${index}`, children: [trace] };
  const all = Array.from({ length }, (_none, index) => transactionOf({ hash: `t${index}` }));
  return { trace, transactions: Object.fromEntries(all.map((one) => [one.hash, one])) };
}

/** A root with as many children as given. */
export function fanOf(children: number): { trace: TraceNode; transactions: Record<string, Transaction> } {
  const hashes = Array.from({ length: children }, (_none, index) => `t${index}`);
  const all = ['root', ...hashes].map((hash) => transactionOf({ hash }));
  return {
    trace: { tx_hash: 'root', children: hashes.map((tx_hash) => ({ tx_hash })) },
    transactions: Object.fromEntries(all.map((one) => [one.hash, one])),
  };
}

/** A trace of the index that ended, with the given fields. */
export function traceOf(fields: Partial<Trace>, info: Partial<Trace['trace_info']> = {}): Trace {
  const { trace, transactions } = chainOf(2);
  return {
    trace_id: 't0',
    external_hash: 'm0',
    mc_seqno_start: '1',
    mc_seqno_end: '2',
    start_utime: 1,
    end_utime: 2,
    is_incomplete: false,
    trace_info: { trace_state: 'complete', transactions: 2, ...info },
    trace,
    transactions,
    ...fields,
  };
}
