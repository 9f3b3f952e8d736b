import { createHash } from 'node:crypto';

import { Address, beginCell, internal, SendMode, toNano, type Cell, type MessageRelaxed } from '@ton/core';
import { keyPairFromSeed } from '@ton/crypto';
import { TonClient, WalletContractV3R2, WalletContractV4, WalletContractV5R1 } from '@ton/ton';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { readShardState } from '#service/decode/tlb/shard-state.ts';
import { createDemo, type Demo } from '#service/devchain/demo/demo.ts';
import {
  commentBody,
  jettonTransferBody,
  jettonWallet,
  nftItem,
  nftTransferBody,
} from '#service/devchain/demo/tokens.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { startApiOver, type ApiUnderTest } from '#test/support/api.ts';
import { openEmulateClient, type EmulateClient } from '#test/support/emulate-client.ts';
import { differencesOf, type ComparedTrace } from '#test/support/emulated-and-real.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { wholeTrace, type RealTrace } from '#test/support/whole-trace.ts';

// A request of TON Connect is emulated, then signed and sent with the client library. The index shows what really happened.

type EmulatedTrace = ComparedTrace & { readonly is_incomplete: boolean };

type Version = 'v3r2' | 'v4r2' | 'v5r1';

/** A message of a request, and of the client library. */
type Wish = { readonly to: Address; readonly value: bigint; readonly bounce?: boolean; readonly body?: Cell };

let network: PrivateNetwork;
let index: StoreUnderTest;
let api: Omit<ApiUnderTest, 'network'>;
let demo: Demo;
let client: EmulateClient;

beforeAll(async () => {
  network = await startPrivateNetwork();
  demo = await createDemo(network);
  index = await createMigratedStore(import.meta.filename);
  const over = { globalConfig: () => network.globalConfig(), close: () => network.close() };
  api = await startApiOver(over, { postgresUrl: index.url, writesIndex: true });
  client = await openEmulateClient(api);
  await untilIndexed(index.store, network.head().id.seqno);
});
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

async function emulate(version: Version, wishes: readonly Wish[]): Promise<EmulatedTrace> {
  const messages = wishes.map(({ to, value, bounce = true, body }) => ({
    address: to.toString({ bounceable: bounce }),
    amount: String(value),
    ...(body !== undefined && { payload: body.toBoc().toString('base64') }),
  }));
  const request = { from: demo[`wallet ${version}`], messages, with_actions: true };
  const { status, body } = await client.post('emulateTonConnect', request);
  expect([status, status === 200 || body]).toEqual([200, true]);
  return body as unknown as EmulatedTrace;
}

/** Signs and sends the same, and returns the trace of the index. */
async function send(version: Version, wishes: readonly Wish[]): Promise<RealTrace> {
  const { wallet, secretKey } = walletOf(version);
  const endpoint = `${api.api.url}/api/v2/jsonRPC`;
  const opened = new TonClient({ endpoint, apiKey: api.key }).open(wallet);
  const seqno = await opened.getSeqno();
  const messages: MessageRelaxed[] = wishes.map(({ to, value, bounce = true, body }) =>
    internal({ to, value, bounce, body }),
  );
  const first = network.head().id.seqno;
  await opened.sendTransfer({
    seqno,
    secretKey,
    sendMode: SendMode.PAY_GAS_SEPARATELY + SendMode.IGNORE_ERRORS,
    messages,
  });
  const query = { account: wallet.address.toRawString(), limit: '1', sort: 'desc' };
  const setting = { network, store: index.store, service: api };
  return wholeTrace(setting, query, (trace) => Number(trace.mc_seqno_start) > first);
}

/** The client library puts a short body into the message itself. That costs less than a body in a cell of its own. */
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

  test.each(cases)('%s has the outcome that the chain shows afterwards', async (_what, version, wishes, type) => {
    const emulated = await emulate(version, wishes());
    const real = await send(version, wishes());
    expect(differencesOf(emulated, real, { isSigned: false })).toEqual([]);
    expect(emulated.actions.map((action) => action['type'])).toContain(type);
    expect(emulated.is_incomplete).toBe(false);
  });
});
