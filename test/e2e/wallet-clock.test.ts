import { Address, internal, SendMode, toNano } from '@ton/core';
import { TonClient, WalletContractV4, WalletContractV5R1 } from '@ton/ton';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createDevMethods, type DevMethods } from '#service/devchain/dev/dev-methods.ts';
import { createFaucet } from '#service/devchain/production/faucet.ts';
import { createPrivateNetwork, type PrivateNetwork } from '#service/devchain/private-network.ts';
import { validatorKey } from '#service/devchain/chain/signing.ts';
import { startApiOver } from '#test/support/api.ts';

// The wallets of @ton/ton with the valid_until that they choose themselves: a minute from now by the clock of this machine.

const kinds = { v4r2: WalletContractV4, v5r1: WalletContractV5R1 } as const;
/** Exit codes of a message whose valid_until is over. */
const expired = { v4r2: 36, v5r1: 136 } as const;
const versions = Object.keys(kinds) as (keyof typeof kinds)[];

let network: PrivateNetwork;
let methods: DevMethods;
let api: Awaited<ReturnType<typeof startApiOver>>;

beforeAll(async () => {
  network = await createPrivateNetwork(
    { blockPerMessage: true },
    { logger: pino({ level: 'silent' }), register: new Registry() },
  );
  methods = createDevMethods({ network, faucet: createFaucet(network.faucet, { ...network, now: Date.now }) });
  api = await startApiOver(network);
});
afterAll(() => api.close());

function openWallet(version: keyof typeof kinds) {
  const seed = Buffer.alloc(32, version);
  const { publicKey } = validatorKey(seed);
  const client = new TonClient({ endpoint: `${api.api.url}/api/v2/jsonRPC`, apiKey: api.key });
  const wallet = client.open(kinds[version].create({ workchain: 0, publicKey }));
  const receiver = new Address(0, Buffer.alloc(32, `receiver of ${version}`));
  const messages = [internal({ to: receiver, value: '0.5', bounce: false })];
  const secretKey = Buffer.concat([seed, publicKey]);
  return {
    address: wallet.address,
    seqno: () => wallet.getSeqno(),
    received: () => client.getBalance(receiver),
    /** @param timeout valid_until in Unix seconds; undefined: the client's own */
    send: (seqno: number, timeout?: number) =>
      wallet.sendTransfer({
        seqno,
        secretKey,
        messages,
        sendMode: SendMode.PAY_GAS_SEPARATELY,
        ...(timeout !== undefined && { timeout }),
      }),
  };
}

/** Error text of the API in a failure of the client. */
async function refusalOf(sending: Promise<unknown>): Promise<string> {
  const error: unknown = await sending.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  return String((error as { response?: { data?: { error?: unknown } } } | undefined)?.response?.data?.error);
}

describe('a wallet of @ton/ton on a private network', () => {
  it.each(versions)(
    'sends with its own valid_until, until the seqno grows and the money arrives: %s',
    async (version) => {
      const wallet = openWallet(version);
      await methods.dev_fund({ address: wallet.address.toRawString(), amount: 5 });
      for (const seqno of [0, 1]) {
        const before = await wallet.received();
        await wallet.send(seqno);
        await expect.poll(() => wallet.seqno()).toBe(seqno + 1);
        await expect.poll(() => wallet.received()).toBeGreaterThan(before + toNano('0.49'));
      }
    },
  );

  it.each(versions)(
    'is refused with the lead of the clock after dev_advance, and sends with a later valid_until: %s',
    async (version) => {
      const wallet = openWallet(version);
      const seqno = await wallet.seqno();
      const before = await wallet.received();
      const { aheadSeconds, utime } = (await methods.dev_advance({ seconds: 3600 })) as Record<string, number>;
      const refusal = await refusalOf(wallet.send(seqno));
      expect(refusal).toMatch(new RegExp(`exitcode=${expired[version]}\\b`));
      expect(refusal).toContain('s ahead of the clock of this machine');
      expect(aheadSeconds).toBeGreaterThanOrEqual(3600);
      expect(await wallet.seqno()).toBe(seqno);
      await wallet.send(seqno, utime! + 600);
      await expect.poll(() => wallet.seqno()).toBe(seqno + 1);
      await expect.poll(() => wallet.received()).toBeGreaterThan(before + toNano('0.49'));
    },
  );
});
