import { setTimeout as sleep } from 'node:timers/promises';

import { Address } from '@ton/core';
import { comment, internal } from '@ton/core';

import { seededRandom } from '#test/service/pool/workload.ts';
import type { ServiceProcess } from '#test/support/service-process.ts';
import { testWallet, type TestWallet } from '#test/support/wallet.ts';

import { anyOf, below, readRequest, type MixedRequest, type DetectionContext } from './requests.ts';

/** Requests that wait for an answer; a slow service gets no more, so that its memory is not the memory of a queue. */
const underWayMax = 64;

/** Wallets that send in turns: each waits until its last message is in a block. */
const senders = 16;

/** A wallet's next message follows the last one after so many blocks' time. */
const restMs = 6000;

/** Parts of all requests; the rest reads. The faucet pays ten times a second at most. */
const faucetPart = 0.02;
const sendPart = 0.04;

/** Addresses that requests name; newer ones replace the oldest. */
const addressesMax = 2000;

const fundedTon = '20';
const sentNanotons = 10_000_000n;

export type LoadCounts = {
  readonly requests: number;
  /** Answers with another status than 200, by status and operation. */
  readonly refused: Readonly<Record<string, number>>;
  /** Moments at which a request was due and too many waited for an answer. */
  readonly skipped: number;
};

export type MixedLoad = {
  counts(): LoadCounts;
  /** Waits for the requests in progress. */
  stop(): Promise<void>;
};

type Sender = TestWallet & { deployed: boolean; idleAtMs: number };

/**
 * Asks a private network's API for everything: reads of v2 and v3, get-methods, the faucet and transfers of wallets.
 * @param rate requests a second
 */
export async function startMixedLoad(service: ServiceProcess, rate: number): Promise<MixedLoad> {
  const random = seededRandom(34);
  const demo = await demoOf(service);
  const addresses = Object.values(demo);
  const around = { seqno: 2, demo, addresses, random };
  const wallets: Sender[] = Array.from({ length: senders }, (_, index) => ({
    ...testWallet(Buffer.alloc(32, index + 1)),
    deployed: false,
    idleAtMs: 0,
  }));
  const refused: Record<string, number> = {};
  let [requests, skipped] = [0, 0];
  const underWay = new Set<Promise<unknown>>();

  async function ask(request: MixedRequest): Promise<unknown> {
    requests++;
    const { status, answer } = await exchange(service, request);
    if (status !== 200) {
      const name = `${status} ${request.path.replace(/\?.*/, '')}`;
      refused[name] = (refused[name] ?? 0) + 1;
    }
    return answer;
  }

  async function fund(): Promise<void> {
    const id = Buffer.from(Array.from({ length: 32 }, () => below(around, 256)));
    const address = `0:${id.toString('hex')}`;
    addresses.push(address);
    if (addresses.length > addressesMax) addresses.splice(Object.keys(demo).length, 1);
    await ask({ path: '/faucet', body: { address, amount: '1.5' } });
  }

  async function send(): Promise<void> {
    const wallet = wallets.find(({ idleAtMs }) => idleAtMs <= performance.now());
    if (wallet === undefined) return;
    wallet.idleAtMs = Infinity;
    const read = { path: `/api/v2/getWalletInformation?address=${wallet.address.toRawString()}` };
    const { result } = (await ask(read)) as { result?: { seqno?: number; account_state?: string } };
    const { seqno = 0 } = result ?? {};
    const orders = Array.from({ length: 1 + below(around, 4) }, () =>
      internal({ to: Address.parse(anyOf(around)), value: sentNanotons, bounce: false, body: comment(`${random()}`) }),
    );
    const boc = wallet.send(seqno, orders, { deploy: result?.account_state !== 'active' }).toString('base64');
    await ask({ path: random() < 0.5 ? '/api/v2/sendBoc' : '/api/v3/message', body: { boc } });
    wallet.idleAtMs = performance.now() + restMs;
  }

  async function next(): Promise<void> {
    const draw = random();
    if (draw < faucetPart) return await fund();
    if (draw < faucetPart + sendPart) return await send();
    const answer = await ask(readRequest(around));
    around.seqno = seqnoOf(answer) ?? around.seqno;
  }

  for (const wallet of wallets) {
    await ask({ path: '/faucet', body: { address: wallet.address.toRawString(), amount: fundedTon } });
  }
  const stopping = new AbortController();
  const running = pace(rate, stopping.signal, () => {
    if (underWay.size >= underWayMax) {
      skipped++;
      return;
    }
    const asked = next().finally(() => underWay.delete(asked));
    underWay.add(asked);
  });
  return {
    counts: () => ({ requests, refused, skipped }),
    async stop() {
      stopping.abort();
      await running;
      await Promise.all(underWay);
    },
  };
}

/** Calls at an even pace until the signal; a late turn makes up for what it missed. */
async function pace(rate: number, signal: AbortSignal, call: () => void): Promise<void> {
  const startedMs = performance.now();
  let called = 0;
  while (!signal.aborted) {
    for (const due = ((performance.now() - startedMs) * rate) / 1000; called < due; called++) call();
    await sleep(5);
  }
}

/** Status 0 stands for a request without an answer. */
async function exchange(
  { url, key }: ServiceProcess,
  { path, body }: MixedRequest,
): Promise<{ status: number; answer: unknown }> {
  const headers = { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) };
  const sent = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  try {
    const response = await fetch(`${url}${path}`, sent);
    return { status: response.status, answer: await response.json() };
  } catch {
    return { status: 0, answer: undefined };
  }
}

function seqnoOf(answer: unknown): number | undefined {
  const { result } = (answer ?? {}) as { result?: { last?: { seqno?: number } } };
  return result?.last?.seqno;
}

async function demoOf({ internalUrl }: ServiceProcess): Promise<DetectionContext['demo']> {
  const status = (await (await fetch(`${internalUrl}/status`)).json()) as {
    devchain: { demo: Record<string, string> };
  };
  return status.devchain.demo;
}
