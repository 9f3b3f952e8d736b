import { Cell } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startV3UnderTest, type Query, type V3UnderTest } from '#test/support/v3-service.ts';

// Calls of real clients, and the fields that they read (service/v3/README.md#clients).

type Message = {
  readonly hash: string;
  readonly hash_norm?: string;
  readonly source: string | null;
  readonly value: string | null;
  readonly decoded_opcode: string | null;
  readonly message_content: {
    readonly body: string;
    readonly decoded: { readonly '@type': string; readonly comment?: string } | null;
  };
};

type Transaction = {
  readonly hash: string;
  readonly account: string;
  readonly lt: string;
  readonly trace_id: string;
  readonly in_msg: Message | null;
  readonly out_msgs: readonly Message[];
  readonly account_state_before: { readonly balance: string | null };
  readonly description: {
    readonly aborted: boolean;
    readonly compute_ph?: { readonly skipped: boolean; readonly success?: boolean; readonly gas_fees?: string };
    readonly action?: { readonly success: boolean; readonly total_fwd_fees?: string };
    readonly storage_ph?: { readonly storage_fees_collected: string };
  };
};

type Trace = {
  readonly trace_id: string;
  readonly external_hash: string | null;
  readonly is_incomplete: boolean;
  readonly trace_info: { readonly trace_state: string; readonly pending_messages: number };
  readonly transactions_order: readonly string[];
  readonly transactions: Readonly<Record<string, Transaction>>;
};

let v3: V3UnderTest;
/** A wallet that has sent something, its transaction, and what that led to. */
let sent: Transaction;
let trace: Trace;
/** BoC of the message from outside that the wallet took. */
let boc: string;

async function get<T>(operation: string, query: Query): Promise<T> {
  const { status, body, flaws } = await v3.get(operation, query);
  expect([operation, status, flaws]).toEqual([operation, 200, []]);
  return body as T;
}

beforeAll(async () => {
  v3 = await startV3UnderTest(import.meta.filename);
  const sql = `SELECT m.hash FROM messages m JOIN transactions t ON t.in_msg_hash = m.hash JOIN traces r ON r.trace_id = t.trace_id
    JOIN latest_account_states l ON l.account = t.account
    WHERE m.kind = 0 AND r.nodes BETWEEN 3 AND 20 AND l.status = 2 ORDER BY m.lt DESC LIMIT 1`;
  const [row] = await v3.index.store.read<{ hash: Buffer }>(sql);
  const { traces } = await get<{ traces: Trace[] }>('traces', { msg_hash: row!.hash.toString('hex') });
  trace = traces[0]!;
  sent = trace.transactions[trace.transactions_order[0]!]!;
  const stored = 'SELECT boc FROM transactions WHERE hash = $1';
  const [transaction] = await v3.index.store.read<{ boc: Buffer }>(stored, [Buffer.from(sent.hash, 'base64')]);
  // The first reference of the messages' cell is the inbound one.
  boc = Cell.fromBoc(transaction!.boc)[0]!.refs[0]!.refs[0]!.toBoc().toString('base64');
});
afterAll(() => v3.close());

const unknown = Buffer.alloc(32, 9).toString('base64');

describe('a wallet application', () => {
  it('sends a message and finds what it led to by its normalised hash', async () => {
    const { status, body, flaws } = await v3.post('message', { boc });
    expect([status, flaws]).toEqual([200, []]);
    const { message_hash: hash, message_hash_norm: norm } = body as Record<string, string>;
    expect(hash).toBe(sent.in_msg!.hash);
    expect(norm).toBe(sent.in_msg!.hash_norm ?? sent.in_msg!.hash);
    const hex = `0x${Buffer.from(norm!, 'base64').toString('hex')}`;
    const { traces } = await get<{ traces: Trace[] }>('traces', { msg_hash: hex });
    expect(traces.map((one) => one.trace_id)).toContain(trace.trace_id);
    expect((await v3.get('pendingTraces', { ext_msg_hash: norm! })).status).toBe(200);
  });

  it('looks a trace up by three kinds of hash at once: unknown ones are empty, unusable ones are its mistake', async () => {
    const names = ['tx_hash', 'trace_id', 'msg_hash'];
    const known = await Promise.all(names.map((name) => get<{ traces: Trace[] }>('traces', { [name]: sent.hash })));
    expect(known.map(({ traces }) => traces.map((one) => one.trace_id))).toEqual([
      [trace.trace_id],
      [trace.trace_id],
      [],
    ]);
    const none = await Promise.all(names.map((name) => get<{ traces: Trace[] }>('traces', { [name]: unknown })));
    expect(none.map(({ traces }) => traces)).toEqual([[], [], []]);
    const unusable = await Promise.all(names.map((name) => v3.get('traces', { [name]: 'not a hash' })));
    expect(unusable.map(({ status }) => status)).toEqual([422, 422, 422]);
    expect(trace.transactions_order.map((hash) => trace.transactions[hash]!.hash)).toEqual(trace.transactions_order);
    expect([trace.trace_info.trace_state, trace.trace_info.pending_messages, trace.is_incomplete]).toEqual([
      'complete',
      0,
      false,
    ]);
  });

  it('lists an account’s transactions, and finds them by message', async () => {
    const { transactions } = await get<{ transactions: Transaction[] }>('transactions', {
      account: [sent.account],
      limit: 100,
      offset: 0,
    });
    expect(transactions.map((one) => one.hash)).toContain(sent.hash);
    const byMessage = await get<{ transactions: Transaction[] }>('transactionsByMessage', {
      msg_hash: sent.in_msg!.hash,
      direction: 'in',
    });
    expect(byMessage.transactions.map((one) => one.hash)).toEqual([sent.hash]);
    expect([200, 404]).toContain((await v3.get('pendingTransactions', { account: sent.account })).status);
  });

  it('reads the head, a balance and a get-method, with parameters that nobody else sends', async () => {
    const { last } = await get<{ last: { seqno: number } }>('masterchainInfo', {});
    expect(last.seqno).toBeGreaterThan(0);
    const information = await v3.get('addressInformation', {
      address: [sent.account],
      include_boc: true,
      use_v2: false,
    });
    expect([information.status, Object.keys(information.body as object)]).toEqual([
      200,
      ['balance', 'code', 'data', 'last_transaction_lt', 'last_transaction_hash', 'frozen_hash', 'status'],
    ]);
    const run = await v3.post('runGetMethod', { address: sent.account, method: 'seqno', stack: [], seqno: last.seqno });
    expect([run.status, run.body]).toMatchObject([200, { exit_code: 0, stack: [{ type: 'num' }] }]);
  });

  it('shows names and kinds of accounts', async () => {
    const book = await get<Record<string, { user_friendly: string; interfaces: string[] }>>('addressBook', {
      address: sent.account,
    });
    expect(book[sent.account]!.user_friendly).toMatch(/^UQ|^Uf/);
    expect(book[sent.account]!.interfaces).toEqual([expect.stringMatching(/^wallet_/)]);
  });
});

describe('a payment bot', () => {
  it('follows an account from where it was, oldest first, and reads who paid how much and what for', async () => {
    const query = { account: sent.account, start_lt: sent.lt, sort: 'asc', limit: 50 };
    const { transactions } = await get<{ transactions: Transaction[] }>('transactions', query);
    const lts = transactions.map(({ lt }) => BigInt(lt));
    expect(lts[0]).toBe(BigInt(sent.lt));
    expect(lts.every((lt, at) => at === 0 || lt > lts[at - 1]!)).toBe(true);
    for (const { description, in_msg: message } of transactions) {
      expect(typeof description.aborted).toBe('boolean');
      expect(message === null || message.value === null || /^\d+$/.test(message.value)).toBe(true);
    }
  });

  it('reads comments that are decoded', async () => {
    const { messages } = await get<{ messages: Message[] }>('messages', { opcode: '0x00000000', limit: 100 });
    const comments = messages.map((message) => message.message_content.decoded);
    expect(comments.length).toBeGreaterThan(0);
    expect(new Set(comments.map((one) => one?.['@type']))).toEqual(new Set(['text_comment']));
    expect(comments.every((one) => typeof one?.comment === 'string')).toBe(true);
  });
});

describe('a payment facilitator', () => {
  it('reads of a trace how each step went, what it cost and what it carried', async () => {
    const steps = trace.transactions_order.map((hash) => trace.transactions[hash]!);
    expect(steps.length).toBeGreaterThan(2);
    for (const { description, account_state_before: before, in_msg: message } of steps) {
      const { compute_ph: compute, action, storage_ph: storage } = description;
      const ran = compute?.skipped === false;
      expect(ran ? [compute.success, Number(compute.gas_fees) >= 0] : [true, true]).toEqual([
        expect.any(Boolean),
        true,
      ]);
      expect(action === undefined || typeof action.success === 'boolean').toBe(true);
      expect(/^\d+$/.test(action?.total_fwd_fees ?? '0')).toBe(true);
      expect(storage?.storage_fees_collected).toMatch(/^\d+$/);
      expect(before.balance).toMatch(/^\d+$/);
      const { decoded } = message!.message_content;
      // Wallets' bodies have no opcode, and are known all the same.
      expect(message!.decoded_opcode ?? decoded?.['@type']).toBe(decoded?.['@type'] ?? message!.decoded_opcode);
    }
  });
});
