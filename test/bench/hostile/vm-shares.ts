import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { beginCell } from '@ton/core';

import { startService, type ServiceProcess } from '#test/support/service-process.ts';
import { median } from '../bench.ts';
import { putCode } from '#test/support/put-contract.ts';

/** Medians of an honest key's get-method in milliseconds: alone, and beside so many anonymous addresses that loop. */
export type VmShares = {
  readonly alone: number;
  readonly beside1: number;
  readonly beside10: number;
  readonly beside100: number;
};

/** `PUSHCONT { NOP } AGAIN`: runs until its gas or its time is over. */
export const endless = beginCell().storeUint(0x9100ea, 24).endCell();

/** `PUSHINT 1`. */
const quick = beginCell().storeUint(0x71, 8).endCell();

const loopAccount = `0:${'11'.repeat(32)}`;
const quickAccount = `0:${'22'.repeat(32)}`;

/** Each address asks once a second, as the plan for callers without a key allows. */
const everyMs = 1000;

/** Time in which the addresses fill the queue, and the honest key connects, before anything is measured. */
const leadMs = 4000;

/** @param measureMs how long the honest key asks in each of the four cases, one request after the other */
export async function measureVmShares(measureMs = 10_000): Promise<VmShares> {
  const service = await startService(['--no-demo']);
  try {
    await putCode(service, loopAccount, endless);
    await putCode(service, quickAccount, quick);
    const beside = async (addresses: number): Promise<number> => {
      const ending = new AbortController();
      const loops = Array.from({ length: addresses }, (_, index) => loopFrom(service, index, ending.signal));
      const value = await honestMs(service, measureMs);
      ending.abort();
      await Promise.all(loops);
      return value;
    };
    return {
      alone: await honestMs(service, measureMs),
      beside1: await beside(1),
      beside10: await beside(10),
      beside100: await beside(100),
    };
  } finally {
    await service.stop();
  }
}

/** Median of an unlimited key's requests, each with an argument of its own, so that none is answered from a cache. */
async function honestMs(service: ServiceProcess, ms: number): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  const startedMs = performance.now();
  for (let beginMs = startedMs; beginMs - startedMs < leadMs + ms; beginMs = performance.now()) {
    const status = await call(service, agent, quickAccount, { 'x-api-key': service.key });
    if (status !== 200) throw new Error(`the honest key was answered with ${status}`);
    // One that began before and ended after the lead counts: a busy machine may have no other.
    const endMs = performance.now();
    if (endMs - startedMs > leadMs) times.push(endMs - beginMs);
  }
  agent.destroy();
  return median(times);
}

/** Asks once a second from an address of its own, whether the requests before have been answered or not. */
async function loopFrom(service: ServiceProcess, index: number, signal: AbortSignal): Promise<void> {
  const agent = new Agent({ keepAlive: true, localAddress: `127.1.${index >> 8}.${(index & 255) + 1}` });
  await sleep((index * everyMs) / 100);
  while (!signal.aborted) {
    void call(service, agent, loopAccount, {}).catch(() => undefined);
    await sleep(everyMs);
  }
  agent.destroy();
}

let calls = 0;

function call(
  { url }: ServiceProcess,
  agent: Agent,
  address: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const body = JSON.stringify({ address, method: 0, stack: [['num', (++calls).toString()]] });
  return new Promise((resolve, reject) => {
    const sending = request(
      `${url}/api/v2/runGetMethod`,
      { agent, method: 'POST', headers: { 'content-type': 'application/json', ...headers } },
      (response) => {
        response.resume().once('end', () => resolve(response.statusCode ?? 0));
        response.once('error', reject);
      },
    );
    sending.once('error', reject).end(body);
  });
}
