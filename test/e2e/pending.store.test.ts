import { randomBytes } from 'node:crypto';

import { Address, type MessageRelaxed } from '@ton/core';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

import { commentBody } from '#service/devchain/demo/tokens.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { startApiOver, type ApiUnderTest } from '#test/support/api.ts';
import { startForkedNetwork, type ForkedNetwork } from '#test/support/forked-network.ts';
import { jettonOrder } from '#test/support/jetton-order.ts';
import { skipLoudly } from '#test/support/skips.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { createV3Judge } from '#test/support/v3-reference.ts';
import { testWallet, transfer, type TestWallet } from '#test/support/wallet.ts';

const redisUrl = inject('redisUrl');
const VALUE = 1_000_000_000n;

type Body = Record<string, unknown>;
type Transaction = Body & {
  readonly account: string;
  readonly hash: string;
  readonly description: { readonly compute_ph?: Body };
};

/** The network outlives the pods over it. */
const stays = (): Promise<void> => Promise.resolve();

function raw(address: Address): string {
  return `${address.workChain}:${address.hash.toString('hex').toUpperCase()}`;
}

/** Asks until the answer is as wanted; a machine that does much else takes its time. */
async function until<T>(ask: () => Promise<T>, isWanted: (answer: T) => boolean): Promise<T> {
  for (const endMs = Date.now() + 60_000; ;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    if (Date.now() > endMs) throw new Error(`never came: ${JSON.stringify(answer)}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

describe.skipIf(skipLoudly(redisUrl === undefined, { what: 'pending traces over HTTP', why: 'there is no Redis' }))(
  'a transfer sent over HTTP',
  () => {
    let forked: ForkedNetwork;
    let network: PrivateNetwork;
    let index: StoreUnderTest;
    let pods: Omit<ApiUnderTest, 'network'>[];
    let faucet: TestWallet;
    const judge = createV3Judge();
    /** The first two pods are of one TonApi. The last pod is of a TonApi with the same name in another namespace. */
    const namespace = `team-${randomBytes(4).toString('hex')}`;

    beforeAll(async () => {
      forked = await startForkedNetwork();
      network = forked.network;
      faucet = testWallet(network.faucet.seed);
      index = await createMigratedStore(import.meta.filename);
      const over = { globalConfig: () => network.globalConfig(), close: stays };
      const options = { postgresUrl: index.url, redisUrl: redisUrl!, namespace };
      pods = [
        await startApiOver(over, { ...options, writesIndex: true }),
        await startApiOver(over, options),
        await startApiOver(over, { ...options, namespace: `${namespace}-other` }),
      ];
      await indexed();
    });
    afterAll(async () => {
      for (const pod of pods) await pod.close();
      await index.close();
      await network.close();
    });

    async function get(
      pod: number,
      operation: string,
      query: Record<string, string>,
    ): Promise<{ status: number; body: Body }> {
      const { api, key } = pods[pod]!;
      const path = `/api/v3/${operation}`;
      const response = await fetch(`${api.url}${path}?${new URLSearchParams(query).toString()}`, {
        headers: { 'x-api-key': key },
      });
      const body = (await response.json()) as Body;
      expect(judge.flaws({ path, method: 'GET', status: response.status }, body)).toEqual([]);
      return { status: response.status, body };
    }

    /** Keys in Redis of the TonApis of this file. */
    async function keysWith(prefix: string): Promise<readonly string[]> {
      const client = new Redis(redisUrl!);
      const keys = await client.keys(`${prefix}*${namespace}*`);
      client.disconnect();
      return keys;
    }

    const indexed = (): Promise<void> => untilIndexed(index.store, network.head().id.seqno);

    async function sendFrom(wallet: TestWallet, seqno: number, message: MessageRelaxed): Promise<string> {
      const boc = wallet.send(seqno, [message]).toString('base64');
      const { body } = await pods[0]!.post('sendBocReturnHash', { boc });
      return (body['result'] as { hash: string }).hash;
    }

    const send = (seqno: number, to: Address): Promise<string> => sendFrom(faucet, seqno, transfer(to, VALUE));

    it('is seen on every pod as a pending trace, and replaced by the real one', async () => {
      const receiver = Address.parseRaw(`0:${'4'.repeat(64)}`);
      const hash = await send(0, receiver);
      const tracesOf = async (pod: number, query: Record<string, string>) =>
        (await get(pod, 'pendingTraces', query)).body['traces'] as Body[];

      const [trace] = await until(
        () => tracesOf(1, { ext_msg_hash: hash }),
        (traces) => traces.length > 0,
      );
      expect(trace).toMatchObject({
        trace_id: null,
        external_hash: hash,
        is_incomplete: false,
        trace_info: {
          trace_state: 'pending',
          transactions: 2,
          messages: 2,
          pending_messages: 2,
          classification_state: 'ok',
        },
        actions: [{ type: 'ton_transfer', success: true, details: { value: VALUE.toString() } }],
        trace: { children: [{ children: [] }] },
      });
      expect(await tracesOf(0, { account: raw(receiver) })).toEqual([trace]);
      expect(await tracesOf(2, { ext_msg_hash: hash })).toEqual([]);
      expect(await tracesOf(2, { account: raw(receiver) })).toEqual([]);
      const written = await keysWith('ton:pending:');
      expect(written.length).toBeGreaterThan(0);
      // Each pod of the other API listens to news of its own API.
      const others = written.filter((key) => !key.includes(`:${namespace}/`));
      expect(others.filter((key) => !key.endsWith(':news'))).toEqual([]);

      const pending = await get(1, 'pendingTransactions', { account: raw(receiver) });
      expect(pending.body).toMatchObject({
        transactions: [
          {
            account: raw(receiver),
            emulated: true,
            finality: 'pending',
            mc_block_seqno: 0,
            in_msg: {
              value: VALUE.toString(),
              source: raw(faucet.address),
              ihr_fee: '0',
              extra_flags: expect.any(String),
            },
            account_state_after: { balance: VALUE.toString() },
          },
        ],
      });
      expect(pending.body['transactions']).not.toMatchObject([{ trace_id: expect.anything() }]);
      expect(Object.keys(pending.body['address_book'] as object)).toContain(raw(receiver));
      const byTrace = await get(0, 'pendingTransactions', { trace_id: (trace!['transactions_order'] as string[])[0]! });
      expect(byTrace.body['transactions']).toHaveLength(2);

      await network.step();
      await network.step();
      await until(
        () => get(1, 'pendingTransactions', { account: raw(receiver) }),
        ({ status }) => status === 404,
      );
      // A trace without transactions to show is a list without entries as long as it is there.
      expect(await tracesOf(0, { ext_msg_hash: hash })).toEqual([]);
      const real = await get(1, 'transactions', { account: raw(receiver) });
      expect(real.body['transactions']).toMatchObject([
        { emulated: false, finality: 'finalized', in_msg: { value: VALUE.toString() } },
      ]);

      // The simulated transactions are those that happened, except their lts, times and costs.
      const simulated = Object.values(trace!['transactions'] as Record<string, Transaction>);
      const happened = await get(0, 'transactions', { account: raw(faucet.address), limit: '1' });
      const [wallet] = happened.body['transactions'] as Transaction[];
      const gasOf = (one: Transaction | undefined): unknown => one?.description.compute_ph?.['gas_used'];
      expect(gasOf(simulated.find(({ account }) => account === raw(faucet.address)))).toBe(gasOf(wallet));
    });

    it('of jettons is an action on every pod before a block has it, and is told at any time until the real one is', async () => {
      const [w3, receiver] = [forked.wallet('w3'), Address.parseRaw(`0:${'b'.repeat(64)}`)];
      const wallet = forked.address('jetton_wallet_w3');
      const order = jettonOrder(wallet, { to: receiver, amount: 12_345n, back: w3.address });
      const hash = await sendFrom(w3, 0, order);
      const actionsOf = async (pod: number, operation: string) =>
        (await get(pod, operation, { account: raw(receiver) })).body['actions'] as Body[];
      const told = {
        type: 'jetton_transfer',
        success: true,
        details: {
          asset: raw(forked.address('jetton_minter')),
          sender: raw(w3.address),
          sender_jetton_wallet: raw(wallet),
          receiver: raw(receiver),
          amount: '12345',
        },
      };
      const [simulated] = await until(
        () => actionsOf(1, 'pendingActions'),
        (actions) => actions.length > 0,
      );
      expect(simulated).toMatchObject({ ...told, trace_id: null, trace_external_hash: hash });
      expect(await actionsOf(0, 'pendingActions')).toEqual([simulated]);
      expect(await actionsOf(1, 'actions')).toEqual([]);

      const both = async (): Promise<readonly Body[][]> => {
        // The pending ones first: what goes from them is among the real ones already.
        const pending = await actionsOf(1, 'pendingActions');
        return [pending, await actionsOf(1, 'actions')];
      };
      const seen: number[] = [];
      await network.step();
      await network.step();
      const [, real] = await until(both, ([pending, inIndex]) => {
        seen.push(pending!.length + inIndex!.length);
        return pending!.length === 0;
      });
      expect(Math.min(...seen)).toBeGreaterThan(0);
      expect(real).toMatchObject([{ ...told, trace_id: expect.any(String) }]);
    });

    it('is let go when the wallet sends another in its place', async () => {
      const [one, other] = ['2', '3'].map((digit) => Address.parseRaw(`0:${digit.repeat(64)}`)) as [Address, Address];
      // Straight to the network: this one comes first, and only the other is watched.
      network.send(faucet.send(1, [transfer(one, VALUE)]));
      const hash = await send(1, other);
      const traces = () => get(1, 'pendingTraces', { ext_msg_hash: hash }).then(({ body }) => body['traces'] as Body[]);
      await until(traces, ({ length }) => length === 1);
      await network.step();
      await network.step();
      await indexed();
      await until(traces, ({ length }) => length === 0);
      const { status } = await get(0, 'transactions', { account: raw(other) });
      expect(status).toBe(200);
    });

    it.each([
      ['pendingTransactions', {}, 422, 'at least 1 account address required'],
      [
        'pendingTransactions',
        { account: raw(Address.parseRaw(`0:${'9'.repeat(64)}`)) },
        404,
        'emulated traces not found',
      ],
      ['pendingTransactions', { trace_id: 'A'.repeat(43) + '=' }, 404, 'emulated traces not found'],
      [
        'pendingTransactions',
        { account: 'x' },
        422,
        'failed to decode: schema: error converting value for index 0 of "account"',
      ],
      ['pendingTraces', {}, 422, 'account or ext_msg_hash should be specified'],
      ['pendingTraces', { account: 'x' }, 422, 'failed to decode: schema: error converting value for "account"'],
    ])('%s of %j is refused with %i', async (operation, query, status, error) => {
      expect(await get(0, operation, query as Record<string, string>)).toMatchObject({
        status,
        body: { ok: false, code: status, error },
      });
    });

    it('decode answers the same to GET and POST', async () => {
      const comment = commentBody('hello').toBoc().toString('base64');
      const answer = {
        opcodes: ['jetton_transfer'],
        bodies: [{ '@type': 'text_comment', type: 'text_comment', comment: 'hello', text: 'hello' }],
      };
      expect(await get(0, 'decode', { opcodes: '0x0f8a7ea5', bodies: comment })).toEqual({ status: 200, body: answer });
      const { api, key } = pods[1]!;
      const response = await fetch(`${api.url}/api/v3/decode`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify({ opcodes: ['0x0f8a7ea5'], bodies: [comment] }),
      });
      expect(await response.json()).toEqual(answer);
    });

    it('pendingTraces of an account without any is an empty list', async () => {
      const query = { account: raw(Address.parseRaw(`0:${'9'.repeat(64)}`)) };
      expect(await get(0, 'pendingTraces', query)).toMatchObject({ status: 200, body: { traces: [] } });
    });
  },
);
