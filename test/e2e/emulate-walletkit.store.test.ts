import { Address, Cell, type MessageRelaxed } from '@ton/core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { startApiOver, type ApiUnderTest } from '#test/support/api.ts';
import { openEmulateClient, type EmulateClient } from '#test/support/emulate-client.ts';
import { startForkedNetwork, type ForkedNetwork } from '#test/support/forked-network.ts';
import { jettonOrder } from '#test/support/jetton-order.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { transfer, type TestWallet } from '#test/support/wallet.ts';

/*
 * npm has no package of WalletKit (ton-connect/kit, packages/walletkit) for this project. The schema has each field that its client
 * reads, with the form that the client needs. The client ignores other fields.
 */

const hash = { type: 'string', pattern: '^[A-Za-z0-9+/]{43}=$' };
const base64 = { type: 'string', pattern: '^[A-Za-z0-9+/]+={0,2}$' };
const whole = { type: 'string', pattern: '^[0-9]+$' };
const text = { type: 'string' };
const flag = { type: 'boolean' };
const number = { type: 'integer' };
/** The client makes a friendly address of it. */
const address = { type: 'string', pattern: '^-?[0-9]+:[0-9A-Fa-f]{64}$' };
const any = true;

const orNull = (schema: object): object => ({ anyOf: [schema, { type: 'null' }] });
const list = (items: object): object => ({ type: 'array', items });
const byHash = (value: object): object => ({
  type: 'object',
  propertyNames: hash,
  additionalProperties: value,
  minProperties: 1,
});

/** An object whose fields are all there, but for the optional fields. */
function fields(properties: Record<string, object | true>, optional: Record<string, object> = {}): object {
  return { type: 'object', properties: { ...properties, ...optional }, required: Object.keys(properties) };
}

const state = fields({
  hash,
  balance: whole,
  extra_currencies: orNull({ type: 'object' }),
  account_status: { enum: ['active', 'frozen', 'uninit', 'nonexist'] },
  frozen_hash: orNull(hash),
  data_hash: orNull(hash),
  code_hash: orNull(hash),
});

const message = fields(
  {
    hash,
    source: orNull(address),
    destination: orNull(address),
    value: orNull(whole),
    fwd_fee: orNull(whole),
    ihr_fee: orNull(whole),
    created_lt: orNull(whole),
    created_at: orNull(whole),
    opcode: orNull({ type: 'string', pattern: '^0x[0-9a-f]+$' }),
    ihr_disabled: orNull(flag),
    bounce: orNull(flag),
    bounced: orNull(flag),
    import_fee: orNull(whole),
    message_content: fields({ hash, body: base64, decoded: any }),
    init_state: any,
  },
  { hash_norm: hash },
);

const description = fields(
  {
    type: text,
    aborted: flag,
    destroyed: flag,
    credit_first: flag,
    storage_ph: fields({ storage_fees_collected: whole, status_change: text }),
    compute_ph: fields({ skipped: flag }, { gas_fees: whole, gas_used: whole, exit_code: number, vm_steps: number }),
  },
  {
    credit_ph: fields({ credit: whole }),
    action: fields({
      success: flag,
      valid: flag,
      no_funds: flag,
      status_change: text,
      result_code: number,
      tot_actions: number,
      spec_actions: number,
      skipped_actions: number,
      msgs_created: number,
      action_list_hash: hash,
      tot_msg_size: fields({ cells: whole, bits: whole }),
    }),
  },
);

const transaction = fields(
  {
    account: address,
    hash,
    lt: whole,
    now: number,
    mc_block_seqno: number,
    trace_external_hash: hash,
    prev_trans_hash: orNull(hash),
    prev_trans_lt: orNull(whole),
    orig_status: text,
    end_status: text,
    total_fees: whole,
    total_fees_extra_currencies: { type: 'object' },
    description,
    block_ref: fields({ workchain: number, shard: text, seqno: number }),
    in_msg: orNull(message),
    out_msgs: list(message),
    account_state_before: state,
    account_state_after: state,
    emulated: { const: true },
  },
  { trace_id: hash },
);

const action = fields({
  trace_id: orNull(hash),
  action_id: hash,
  start_lt: whole,
  end_lt: whole,
  start_utime: number,
  end_utime: number,
  trace_end_lt: whole,
  trace_end_utime: number,
  trace_mc_seqno_end: number,
  transactions: list(hash),
  success: flag,
  type: text,
  trace_external_hash: hash,
  accounts: list(address),
  details: { type: 'object' },
});

const friendly = { type: 'string', pattern: '^[A-Za-z0-9_-]{48}$' };

const answer = {
  $defs: { node: fields({ tx_hash: hash, in_msg_hash: hash, children: list({ $ref: '#/$defs/node' }) }) },
  ...fields({
    mc_block_seqno: number,
    trace: { $ref: '#/$defs/node' },
    transactions: byHash(transaction),
    actions: list(action),
    code_cells: byHash(base64),
    data_cells: byHash(base64),
    address_book: {
      type: 'object',
      propertyNames: address,
      additionalProperties: fields({ domain: orNull(text), user_friendly: friendly, interfaces: list(text) }),
      minProperties: 1,
    },
    metadata: {
      type: 'object',
      propertyNames: address,
      additionalProperties: fields({ token_info: list(fields({ valid: flag, type: text })) }),
    },
    rand_seed: hash,
    is_incomplete: flag,
  }),
};

const validate = new Ajv2020({ strictTypes: false, allErrors: true }).compile(answer);

/** Parts of an answer from which WalletKit computes what a message moves. */
type Emulated = {
  readonly trace: { readonly tx_hash: string };
  readonly transactions: Readonly<Record<string, MovingTransaction>>;
  readonly actions: readonly { readonly type: string; readonly success: boolean; readonly details: object }[];
  readonly metadata: Readonly<Record<string, { readonly token_info: readonly TokenInfo[] }>>;
};

type MovingTransaction = {
  readonly account: string;
  readonly in_msg: { readonly source: string | null; readonly message_content: { readonly body: string } };
  readonly out_msgs: readonly { readonly value: string | null }[];
};

type TokenInfo = { readonly valid: boolean; readonly type: string; readonly extra: { readonly jetton: string } };

const JETTON_TRANSFER = 0x0f8a7ea5;

/** Jettons of an answer: orders to accounts that the metadata calls jetton wallets. */
function movedJettons({ transactions, metadata }: Emulated): readonly object[] {
  return Object.values(transactions).flatMap(({ account, in_msg: { source, message_content: content } }) => {
    const body = Cell.fromBase64(content.body).beginParse();
    const wallet = metadata[account]?.token_info.find(({ valid, type }) => valid && type === 'jetton_wallets');
    if (source === null || wallet === undefined || body.remainingBits < 32) return [];
    if (body.loadUint(32) !== JETTON_TRANSFER) return [];
    body.skip(64);
    const [amount, to] = [body.loadCoins(), body.loadAddress()];
    return [{ from: source, to: raw(to), jetton: wallet.extra.jetton, amount }];
  });
}

/** Nanotons that the first account sends. */
function sentTons({ trace, transactions }: Emulated): bigint {
  const { account } = transactions[trace.tx_hash]!;
  const own = Object.values(transactions).filter((one) => one.account === account);
  return own.flatMap(({ out_msgs: sent }) => sent).reduce((sum, { value }) => sum + BigInt(value ?? 0), 0n);
}

const raw = (one: Address): string => one.toRawString().toUpperCase();

describe('an emulation for WalletKit', () => {
  let forked: ForkedNetwork;
  let index: StoreUnderTest;
  let api: Omit<ApiUnderTest, 'network'>;
  let client: EmulateClient;

  beforeAll(async () => {
    forked = await startForkedNetwork();
    index = await createMigratedStore(import.meta.filename);
    api = await startApiOver(forked.network, { postgresUrl: index.url, writesIndex: true });
    client = await openEmulateClient(api);
    await untilIndexed(index.store, forked.network.head().id.seqno);
  });
  afterAll(async () => {
    await api.close();
    await index.close();
  });

  /** Sends the fields that WalletKit sends. */
  async function emulate(wallet: TestWallet, messages: readonly MessageRelaxed[]): Promise<Emulated> {
    const request = {
      boc: wallet.send(0, messages).toString('base64'),
      ignore_chksig: true,
      include_code_data: true,
      include_address_book: true,
      include_metadata: true,
      with_actions: true,
    };
    const { status, body } = await client.post('emulateTrace', request);
    validate(body);
    expect([status, validate.errors]).toEqual([200, null]);
    return body as unknown as Emulated;
  }

  it('shows the jettons and tons that a message moves, in the fields that WalletKit reads', async () => {
    const w3 = forked.wallet('w3');
    const to = Address.parseRaw(`0:${'b'.repeat(64)}`);
    const order = jettonOrder(forked.address('jetton_wallet_w3'), { to, amount: 1_500_000n, back: w3.address });
    const shown = await emulate(w3, [order, transfer(forked.wallet('w2').address, 5_000_000n)]);
    expect(movedJettons(shown)).toEqual([
      { from: raw(w3.address), to: raw(to), jetton: raw(forked.address('jetton_minter')), amount: 1_500_000n },
    ]);
    expect(sentTons(shown)).toBe(205_000_000n);
    expect(shown.actions.map(({ type, success }) => [type, success])).toContainEqual(['jetton_transfer', true]);
  });

  it('shows a transfer of tons with the details that WalletKit reads', async () => {
    const [from, to] = [forked.wallet('w1'), forked.wallet('w2')];
    const shown = await emulate(from, [transfer(to.address, 1_000_000_000n)]);
    const [sent] = shown.actions;
    expect(sent).toMatchObject({
      type: 'ton_transfer',
      details: {
        source: raw(from.address),
        destination: raw(to.address),
        value: '1000000000',
        value_extra_currencies: {},
        comment: null,
        encrypted: false,
      },
    });
  });

  it('has the fields that WalletKit reads for a message whose receiver is not there', async () => {
    const nowhere = Address.parseRaw(`0:${'c'.repeat(64)}`);
    const shown = await emulate(forked.wallet('w1'), [transfer(nowhere, 10_000_000n, true)]);
    expect(Object.keys(shown.transactions)).toHaveLength(3);
  });
});
