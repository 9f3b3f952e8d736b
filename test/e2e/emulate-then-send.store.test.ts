import { createHash } from 'node:crypto';

import { Address, beginCell, internal, SendMode, toNano, type Cell, type MessageRelaxed } from '@ton/core';
import { keyPairFromSeed } from '@ton/crypto';
import { TonClient, WalletContractV3R2, WalletContractV4, WalletContractV5R1 } from '@ton/ton';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { readShardState } from '#service/decode/tlb/shard-state.ts';
import { hasMessagesOnTheWay } from '#service/devchain/chain/snapshots.ts';
import { createDemo, type Demo } from '#service/devchain/demo/demo.ts';
import {
  commentBody,
  jettonTransferBody,
  jettonWallet,
  nftItem,
  nftTransferBody,
} from '#service/devchain/demo/tokens.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { migrate } from '#service/store/migrate.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { startApiOver, type ApiUnderTest } from '#test/support/api.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { createStoreUnderTest, type StoreUnderTest } from '#test/support/store.ts';

// A request of TON Connect is emulated, then signed and sent with the client library. The index shows what really happened.

type Message = {
  readonly destination: string | null;
  readonly value: string | null;
  readonly fwd_fee: string | null;
  readonly bounce: boolean | null;
  readonly bounced: boolean | null;
  readonly opcode: string | null;
};

type Transaction = {
  readonly account: string;
  readonly orig_status: string;
  readonly end_status: string;
  readonly in_msg: Message;
  readonly out_msgs: readonly Message[];
  readonly description: {
    readonly aborted: boolean;
    readonly compute_ph: { readonly exit_code?: number; readonly gas_used?: string; readonly gas_fees?: string };
    readonly action?: {
      readonly result_code: number;
      readonly total_fwd_fees?: string;
      readonly skipped_actions: number;
    };
    readonly bounce?: { readonly type: string };
  };
};

type Node = { readonly tx_hash: string; readonly children: readonly Node[] };

type Trace = {
  readonly is_incomplete: boolean;
  readonly trace: Node;
  readonly transactions: Readonly<Record<string, Transaction>>;
  readonly actions: readonly {
    readonly type: string;
    readonly success: boolean;
    readonly details: Readonly<Record<string, unknown>>;
  }[];
};

type IndexedTrace = Trace & {
  readonly mc_seqno_start: string;
  readonly trace_info: { readonly classification_state: string };
};

type Version = 'v3r2' | 'v4r2' | 'v5r1';

/** A message of a request, and of the client library. */
type Wish = { readonly to: Address; readonly value: bigint; readonly bounce?: boolean; readonly body?: Cell };

/** Storage fees of the seconds between both runs, in nanotons; such fees change the values that contracts send on. */
const STORAGE_NANOTONS = 2_000n;

let network: PrivateNetwork;
let index: StoreUnderTest;
let api: Omit<ApiUnderTest, 'network'>;
let demo: Demo;

beforeAll(async () => {
  network = await startPrivateNetwork();
  demo = await createDemo(network);
  index = await createStoreUnderTest(import.meta.filename);
  await migrate(index.store);
  const over = { globalConfig: () => network.globalConfig(), close: () => network.close() };
  api = await startApiOver(over, { postgresUrl: index.url, writesIndex: true });
  await untilIndexed(index.store, network.head().id.seqno);
}, 240_000);
afterAll(async () => {
  await api.close();
  await index.close();
});

const addressOf = (name: string): Address => Address.parse(demo[name]!);

/** The wallet of the demonstration, as the client library makes it. */
function walletOf(version: Version) {
  const seed = createHash('sha256').update(`tonplane demo wallet: ${version}`).digest();
  const { publicKey, secretKey } = keyPairFromSeed(seed);
  const wallet = walletContract(version, publicKey);
  expect(wallet.address.toRawString()).toBe(demo[`wallet ${version}`]);
  return { wallet, secretKey };
}

function walletContract(version: Version, publicKey: Buffer) {
  if (version === 'v3r2') return WalletContractV3R2.create({ workchain: 0, publicKey });
  if (version === 'v4r2') return WalletContractV4.create({ workchain: 0, publicKey });
  const { globalId } = readShardState(network.chain.states, network.head().state);
  return WalletContractV5R1.create({ workchain: 0, publicKey, walletId: { networkGlobalId: globalId } });
}

async function ask(path: string, init: RequestInit = {}): Promise<unknown> {
  const headers = { 'content-type': 'application/json', 'x-api-key': api.key };
  const response = await fetch(`${api.api.url}/api/${path}`, { ...init, headers });
  const body: unknown = await response.json();
  expect({ path, status: response.status, body: response.ok ? undefined : body }).toMatchObject({ status: 200 });
  return body;
}

async function emulate(version: Version, wishes: readonly Wish[]): Promise<Trace> {
  const messages = wishes.map(({ to, value, bounce = true, body }) => ({
    address: to.toString({ bounceable: bounce }),
    amount: String(value),
    ...(body !== undefined && { payload: body.toBoc().toString('base64') }),
  }));
  const request = { from: demo[`wallet ${version}`], messages, with_actions: true };
  return (await ask('emulate/v1/emulateTonConnect', { method: 'POST', body: JSON.stringify(request) })) as Trace;
}

/** Signs and sends the same, and returns the trace of the index. */
async function send(version: Version, wishes: readonly Wish[]): Promise<Trace> {
  const { wallet, secretKey } = walletOf(version);
  const endpoint = `${api.api.url}/api/v2/jsonRPC`;
  const client = new TonClient({ endpoint, apiKey: api.key }).open(wallet);
  const seqno = await client.getSeqno();
  const messages: MessageRelaxed[] = wishes.map(({ to, value, bounce = true, body }) =>
    internal({ to, value, bounce, body }),
  );
  const first = network.head().id.seqno;
  await client.sendTransfer({
    seqno,
    secretKey,
    sendMode: SendMode.PAY_GAS_SEPARATELY + SendMode.IGNORE_ERRORS,
    messages,
  });
  do await network.step();
  while (network.waiting > 0 || hasMessagesOnTheWay(network.chain, network.head()));
  await network.step();
  await untilIndexed(index.store, network.head().id.seqno);
  const query = new URLSearchParams({
    account: wallet.address.toRawString(),
    limit: '1',
    sort: 'desc',
    include_actions: 'true',
  });
  for (;;) {
    const { traces } = (await ask(`v3/traces?${query.toString()}`)) as {
      readonly traces: readonly IndexedTrace[];
    };
    const [trace] = traces;
    const isNew = trace !== undefined && Number(trace.mc_seqno_start) > first;
    if (isNew && trace.trace_info.classification_state === 'ok') return trace;
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** Transactions from the first one on. Receivers of one sender run in any order, so each level is sorted by account. */
function transactionsOf({ trace, transactions }: Trace): Transaction[] {
  const of = ({ tx_hash }: Node): Transaction => transactions[tx_hash]!;
  const nodes = [trace];
  for (const { children } of nodes) {
    nodes.push(
      ...children.toSorted((a, b) => (of(a).account < of(b).account ? -1 : Number(of(a).account > of(b).account))),
    );
  }
  return nodes.map(of);
}

/** Parts that depend neither on the time of the block nor on the signature. */
function partsOf(trace: Trace): unknown[] {
  return transactionsOf(trace).map(({ account, orig_status, end_status, in_msg, out_msgs, description }, at) => {
    const { aborted, compute_ph, action, bounce } = description;
    const { exit_code, gas_used, gas_fees } = compute_ph;
    return {
      account,
      orig_status,
      end_status,
      aborted,
      exit_code,
      gas_used,
      gas_fees,
      result_code: action?.result_code,
      total_fwd_fees: action?.total_fwd_fees,
      skipped_actions: action?.skipped_actions,
      bounce: bounce?.type,
      in_msg: at === 0 ? in_msg.destination : sentOf(in_msg),
      out_msgs: out_msgs.map(sentOf),
    };
  });
}

const sentOf = ({ destination, fwd_fee, bounce, bounced, opcode }: Message) => ({
  destination,
  fwd_fee,
  bounce,
  bounced,
  opcode,
});

/** Values of all messages, in the order of `partsOf`. */
function valuesOf(trace: Trace): bigint[] {
  return transactionsOf(trace).flatMap(({ out_msgs }) => out_msgs.map(({ value }) => BigInt(value ?? 0)));
}

const actionsOf = ({ actions }: Trace): unknown[] =>
  actions.map(({ type, success, details }) => ({ type, success, details }));

/** The client library puts a short body into the message itself, which costs less than a body in a cell of its own. */
const longComment = commentBody('a comment that no message has room for, '.repeat(3));

const stranger = new Address(0, Buffer.alloc(32, 0x77));

const jettons = (): Address => jettonWallet(addressOf('jetton minter'), addressOf('wallet v4r2'));

describe('an emulated request of TON Connect', () => {
  const cases: readonly [string, Version, () => readonly Wish[], string][] = [
    [
      'a transfer with a comment',
      'v3r2',
      () => [{ to: stranger, value: 5n, bounce: false, body: longComment }],
      'ton_transfer',
    ],
    [
      'a transfer of jettons',
      'v4r2',
      () => [
        {
          to: jettons(),
          value: toNano('0.2'),
          body: jettonTransferBody(addressOf('wallet v3r2'), addressOf('wallet v4r2'), 7n, 'for you'),
        },
      ],
      'jetton_transfer',
    ],
    [
      'a transfer of more jettons than the wallet has',
      'v4r2',
      () => [
        {
          to: jettons(),
          value: toNano('0.2'),
          body: jettonTransferBody(stranger, addressOf('wallet v4r2'), 10n ** 30n, ''),
        },
      ],
      'call_contract',
    ],
    [
      'a transfer of an item',
      'v5r1',
      () => [
        {
          to: nftItem(addressOf('NFT collection'), 0),
          value: toNano('0.1'),
          body: nftTransferBody(addressOf('wallet v3r2'), addressOf('wallet v5r1')),
        },
      ],
      'nft_transfer',
    ],
    [
      'a message that bounces',
      'v5r1',
      () => [{ to: new Address(0, Buffer.alloc(32, 0x66)), value: toNano('0.1'), body: longComment }],
      'ton_transfer',
    ],
    [
      'a message that no contract takes',
      'v4r2',
      () => [
        {
          to: addressOf('NFT collection'),
          value: toNano('0.1'),
          body: beginCell().storeUint(0xdead, 32).storeBuffer(Buffer.alloc(100)).endCell(),
        },
      ],
      'call_contract',
    ],
    [
      'twenty messages of a wallet v5',
      'v5r1',
      () => Array.from({ length: 20 }, (_, at) => ({ to: stranger, value: BigInt(at + 1), bounce: false })),
      'ton_transfer',
    ],
    [
      'a message that the wallet cannot pay',
      'v4r2',
      () => [
        { to: stranger, value: toNano('100000'), bounce: false },
        { to: stranger, value: 1n, bounce: false },
      ],
      'ton_transfer',
    ],
  ];

  test.each(cases)(
    '%s has the outcome that the chain shows afterwards',
    async (_what, version, wishes, type) => {
      const emulated = await emulate(version, wishes());
      const happened = await send(version, wishes());
      expect(partsOf(emulated)).toEqual(partsOf(happened));
      const [said, seen] = [valuesOf(emulated), valuesOf(happened)];
      const apart = said.filter(
        (value, at) => value - seen[at]! > STORAGE_NANOTONS || seen[at]! - value > STORAGE_NANOTONS,
      );
      expect(apart).toEqual([]);
      expect(actionsOf(emulated)).toEqual(actionsOf(happened));
      expect(emulated.actions.map((action) => action.type)).toContain(type);
      expect(emulated.is_incomplete).toBe(false);
    },
    120_000,
  );
});
