import { createHash } from 'node:crypto';
import { once } from 'node:events';

import { Address, beginCell, internal, SendMode, toNano } from '@ton/core';
import * as ton from '@ton/ton';
import { JettonMaster, JettonWallet, TonClient } from '@ton/ton';
import { LiteClient, LiteSingleEngine } from 'ton-lite-client';
import TonWeb from 'tonweb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Demo } from '#service/devchain/demo/demo.ts';
import { createDemo } from '#service/devchain/demo/demo.ts';
import { jettonTransferBody, nftItem, nftTransferBody } from '#service/devchain/demo/tokens.ts';
import { createFaucet } from '#service/devchain/production/faucet.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { createPrivateNetwork } from '#service/devchain/private-network.ts';
import type { ApiUnderTest } from '#test/support/api.ts';
import { validatorKey } from '#service/devchain/chain/signing.ts';
import { startApiOver } from '#test/support/api.ts';
import { pino } from 'pino';
import { Registry } from 'prom-client';

// Clients that programs of others are written with, unmodified, on a private network that makes a block for each message.

/** Its types describe a module with a default export, its code is the class itself. */
const tonweb = TonWeb as unknown as typeof TonWeb.default;

let network: PrivateNetwork;
let demo: Demo;
let api: Omit<ApiUnderTest, 'network'>;

beforeAll(async () => {
  const logger = pino({ level: 'silent' });
  network = await createPrivateNetwork({ blockPerMessage: true }, { logger, register: new Registry() });
  demo = await createDemo(network);
  api = await startApiOver(network);
});
afterAll(() => api.close());

const endpoint = (): string => `${api.api.url}/api/v2/jsonRPC`;
const tonClient = (): TonClient => new TonClient({ endpoint: endpoint(), apiKey: api.key });

async function fund(address: Address, tons: string): Promise<void> {
  const faucet = createFaucet(network.faucet, { ...network, now: Date.now });
  await faucet.fund({ workchain: address.workChain, id: address.hash }, toNano(tons));
}

/** Asks as programs do: again and again until the answer is as wished. */
async function until<T>(ask: () => Promise<T>, isWished: (value: T) => boolean): Promise<T> {
  for (const deadline = Date.now() + 60_000; ;) {
    const value = await ask().catch(() => undefined);
    if (value !== undefined && isWished(value)) return value;
    if (Date.now() > deadline) throw new Error(`still ${String(value)}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

const receiver = Address.parse(`0:${'ab'.repeat(32)}`);

type KeyPair = { readonly publicKey: Buffer; readonly secretKey: Buffer };

function keyPairFromSeed(seed: Buffer): KeyPair {
  const { publicKey } = validatorKey(seed);
  return { publicKey, secretKey: Buffer.concat([seed, publicKey]) };
}

type Wallet = {
  readonly address: Address;
  getSeqno(): Promise<number>;
  sendTransfer(transfer: object): Promise<void>;
};

const kinds = {
  v1r1: ton.WalletContractV1R1,
  v1r2: ton.WalletContractV1R2,
  v1r3: ton.WalletContractV1R3,
  v2r1: ton.WalletContractV2R1,
  v2r2: ton.WalletContractV2R2,
  v3r1: ton.WalletContractV3R1,
  v3r2: ton.WalletContractV3R2,
  v4r2: ton.WalletContractV4,
  v5r1: ton.WalletContractV5R1,
} as const;

function openWallet(version: keyof typeof kinds, { publicKey }: KeyPair): Wallet {
  const contract = kinds[version].create({ workchain: 0, publicKey });
  return tonClient().open(contract);
}

describe('TonClient of @ton/ton on a private network', () => {
  it.each(Object.keys(kinds) as (keyof typeof kinds)[])(
    'deploys a wallet %s with its first transfer, and sees it',
    async (version) => {
      const keys = keyPairFromSeed(Buffer.alloc(32, version));
      const wallet = openWallet(version, keys);
      await fund(wallet.address, '5');
      const before = await tonClient().getBalance(receiver);
      const hello = internal({ to: receiver, value: '0.5', bounce: false, body: 'hello' });
      await wallet.sendTransfer({
        seqno: 0,
        secretKey: keys.secretKey,
        sendMode: SendMode.PAY_GAS_SEPARATELY,
        // The oldest wallets take one message, the others a list.
        message: hello,
        messages: [hello],
        timeout: 0xffff_ffff,
      });
      // Wallets before v1r3 and v2r2 have no get-method for it: there the state tells.
      await until(
        () => tonClient().getContractState(wallet.address),
        ({ state }) => state === 'active',
      );
      const hasMethod = !['v1r1', 'v1r2', 'v2r1', 'v3r1'].includes(version);
      const seqno = await until(
        () => (hasMethod ? wallet.getSeqno() : Promise.resolve(1)),
        (found) => found === 1,
      );
      expect(seqno).toBe(1);
      const after = await until(
        () => tonClient().getBalance(receiver),
        (balance) => balance > before,
      );
      expect(after - before).toBeGreaterThan(toNano('0.49'));
    },
  );

  it('sends jettons and an item of a collection on', async () => {
    const client = tonClient();
    const seed = createHash('sha256').update('tonplane demo wallet: v3r2').digest();
    const keys = keyPairFromSeed(seed);
    const wallet = openWallet('v3r2', keys);
    expect(wallet.address.toRawString()).toBe(demo['wallet v3r2']);
    const minter = client.open(JettonMaster.create(Address.parse(demo['jetton minter']!)));
    expect(await minter.getJettonData()).toMatchObject({ totalSupply: toNano('1004900'), mintable: true });
    const [own, theirs] = await Promise.all(
      [wallet.address, receiver].map(async (owner) =>
        client.open(JettonWallet.create(await minter.getWalletAddress(owner))),
      ),
    );
    const before = await own!.getBalance();
    const item = nftItem(Address.parse(demo['NFT collection']!), 1);
    const seqno = await wallet.getSeqno();
    await wallet.sendTransfer({
      seqno,
      secretKey: keys.secretKey,
      sendMode: SendMode.PAY_GAS_SEPARATELY,
      messages: [
        internal({ to: own!.address, value: '0.2', body: jettonTransferBody(receiver, wallet.address, 5n, 'five') }),
        internal({ to: item, value: '0.1', body: nftTransferBody(receiver, wallet.address) }),
      ],
      timeout: 0xffff_ffff,
    });
    expect(
      await until(
        () => wallet.getSeqno(),
        (found) => found > seqno,
      ),
    ).toBe(seqno + 1);
    expect(
      await until(
        () => theirs!.getBalance(),
        (balance) => balance > 0n,
      ),
    ).toBe(5n);
    expect(await own!.getBalance()).toBe(before - 5n);
    const ownerOf = async (): Promise<string> => {
      const { stack } = await client.runMethod(item, 'get_nft_data');
      stack.skip(3);
      return stack.readAddress().toRawString();
    };
    expect(await until(ownerOf, (owner) => owner === receiver.toRawString())).toBe(receiver.toRawString());
  });
});

describe('tonweb on a private network', () => {
  it('deploys a wallet, and waits for its seqno', async () => {
    const provider = new tonweb.HttpProvider(endpoint(), { apiKey: api.key });
    const web = new tonweb(provider);
    const { publicKey, secretKey } = keyPairFromSeed(Buffer.alloc(32, 'tonweb'));
    const WalletClass = web.wallet.all.v3R2;
    const wallet = new WalletClass(provider, { publicKey: new Uint8Array(publicKey), wc: 0 });
    const address = Address.parse((await wallet.getAddress()).toString(true, true, false));
    await fund(address, '3');
    await until(
      () => web.getBalance(address.toString()),
      (balance) => BigInt(balance) === toNano('3'),
    );
    const transfer = {
      secretKey: new Uint8Array(secretKey),
      toAddress: receiver.toString({ bounceable: false }),
      amount: new tonweb.utils.BN('250000000'),
      seqno: 0,
      payload: 'from tonweb',
      sendMode: 3,
    };
    await wallet.methods.transfer(transfer).send();
    const seqno = await until(
      async () => (await wallet.methods.seqno().call()) as number,
      (value) => value === 1,
    );
    expect(seqno).toBe(1);
  });
});

describe('ton-lite-client on a private network', () => {
  it('reads the head, an account, its transactions and a get-method', async () => {
    const { host, port, publicKey } = network.liteServers[0]!;
    const engine = new LiteSingleEngine({ host: `tcp://${host}:${port}`, publicKey });
    await once(engine, 'ready');
    const client = new LiteClient({ engine });
    try {
      const { last } = await client.getMasterchainInfo();
      expect(last.rootHash.equals(network.head().id.rootHash)).toBe(true);
      const address = Address.parse(demo['wallet v4r2']!);
      const account = await client.getAccountState(address, last);
      expect(account.state?.storage.state.type).toBe('active');
      const page = await client.getAccountTransactions(
        address,
        account.lastTx!.lt.toString(),
        bytesOf(account.lastTx!.hash),
        5,
      );
      expect(page.ids.length).toBe(5);
      const ran = await client.runMethod(
        address,
        'seqno',
        beginCell().storeUint(0, 24).storeRef(beginCell()).endCell().toBoc(),
        last,
      );
      expect(ran.exitCode).toBe(0);
    } finally {
      engine.close();
    }
  });
});

function bytesOf(hash: bigint): Buffer {
  return Buffer.from(hash.toString(16).padStart(64, '0'), 'hex');
}
