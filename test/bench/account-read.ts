import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

import { pino } from 'pino';
import { Registry } from 'prom-client';

import { configFromGlobalConfig, unlimitedPlan } from '#service/config.ts';
import type { BlockId } from '#service/decode/block-id.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { makeKey } from '#service/limits/keys.ts';
import { getAccountState } from '#service/liteserver/functions.ts';
import { createLiteServer } from '#service/liteserver/liteserver.ts';
import type { LiteServer } from '#service/liteserver/liteserver.ts';
import { viewAccount } from '#service/live/accounts/account-view.ts';
import { startApi } from '#service/main/roles/api.ts';
import type { Api } from '#service/main/roles/api.ts';
import { checkAccountState } from '#service/proof/account-proof.ts';
import { cpuMs, median, quantile, type Bench, type BenchResult } from './bench.ts';

/** Masterchain blocks, and so fresh states of every account: no read may come from the cache. */
const blocks = 30;

/** Repetitions of the check alone. */
const checks = 40;

const timeoutMs = 10_000;

type Network = {
  readonly globalConfig: string;
  readonly liteServer: { readonly host: string; readonly port: number; readonly publicKey: string };
  readonly lastSeqno: number;
  readonly addresses: readonly string[];
};

type Reader = {
  readonly api: Api;
  /** GET with a kept-open connection; rejects unless the answer is 200. */
  readonly fetch: (path: string) => Promise<void>;
};

function openReader(api: Api, key: string): Reader {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { 'x-api-key': key };
  return {
    api,
    fetch: (path) =>
      new Promise((resolve, reject) => {
        get(`${api.url}${path}`, { agent, headers }, (response) => {
          response.resume();
          response.once('end', () => {
            if (response.statusCode === 200) resolve();
            else reject(new Error(`${path}: status ${response.statusCode}`));
          });
        }).once('error', reject);
      }),
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

function accountOf(address: string): { workchain: number; id: Buffer } {
  const [workchain, id = ''] = address.split(':');
  return { workchain: Number(workchain), id: Buffer.from(id, 'hex') };
}

async function moveHead(lite: ChildProcess, api: Api, seqno: number): Promise<BlockId> {
  lite.send(seqno);
  for (;;) {
    const head = api.pool.head();
    if (head !== undefined && head.block.seqno >= seqno) return head.block;
    await delay(2);
  }
}

/** Both ways to read each account at each block, in turns, so that a busy machine hits both. */
async function measureReads(network: Network, lite: ChildProcess, reader: Reader, direct: LiteServer) {
  const ms: { direct: number[]; http: number[]; bare: number[] } = { direct: [], http: [], bare: [] };
  const first = network.lastSeqno - blocks;
  for (let seqno = first; seqno < first + blocks; seqno += 1) {
    const block = await moveHead(lite, reader.api, seqno);
    await reader.fetch('/api/v2/getMasterchainInfo');
    for (const [turn, address] of network.addresses.entries()) {
      const askDirect = async (): Promise<void> => {
        const args = { id: block, account: accountOf(address) };
        ms.direct.push(await timed(() => direct.query(getAccountState, args, { timeoutMs })));
      };
      const askHttp = async (): Promise<void> => {
        ms.http.push(await timed(() => reader.fetch(`/api/v2/getAddressInformation?address=${address}`)));
      };
      const order = turn % 2 === 0 ? [askDirect, askHttp] : [askHttp, askDirect];
      for (const ask of order) await ask();
      ms.bare.push(await timed(() => reader.fetch('/api/v2/getMasterchainInfo')));
    }
  }
  return ms;
}

/** CPU of checking and viewing one answer, over the answers of all accounts. */
async function measureCheck(network: Network, block: BlockId, direct: LiteServer): Promise<number> {
  const answers = await Promise.all(
    network.addresses.map(async (address) => {
      const account = accountOf(address);
      const request = getAccountState.encode({ id: block, account });
      return { account, bytes: await direct.queryBytes(request, { timeoutMs }) };
    }),
  );
  const pinned = { block, utime: 0, endLt: 0n, keyBlockSeqno: 0 };
  const checkAll = async (): Promise<void> => {
    for (const { account, bytes } of answers) {
      const answer = getAccountState.decode(bytes);
      const proved = checkAccountState({ block, workchain: account.workchain, account: account.id }, answer);
      const shard = proved.shard && { block: proved.shard.block, utime: proved.shard.info.utime };
      await viewAccount(account, pinned, { shard, entry: proved.account }, ({ table, cell }) =>
        writeBoc(table, [cell], { crc32c: true }),
      );
    }
  };
  for (let i = 0; i < checks; i += 1) await checkAll();
  const rounds: number[] = [];
  for (let i = 0; i < checks; i += 1) rounds.push(await cpuMs(answers.length, checkAll));
  return median(rounds);
}

async function run(): Promise<BenchResult[]> {
  const lite = fork(join(import.meta.dirname, 'account-read/network.ts'));
  const [network] = (await once(lite, 'message')) as [Network];
  const logger = pino({ level: 'silent' });
  const key = makeKey(randomBytes);
  const api = await startApi(
    configFromGlobalConfig(network.globalConfig, 'custom', { port: 0, internalPort: 0 }),
    { keys: [{ id: key.id, sha256: key.sha256, plan: unlimitedPlan }], drainMs: 100 },
    { version: '0.0.0', logger, register: new Registry() },
  );
  const publicKey = Buffer.from(network.liteServer.publicKey, 'hex');
  const direct = createLiteServer(
    { name: 'direct', ...network.liteServer, publicKey },
    { logger, register: new Registry() },
  );
  const reader = openReader(api, key.key);
  try {
    const loopDelay = monitorEventLoopDelay({ resolution: 1 });
    loopDelay.enable();
    const ms = await measureReads(network, lite, reader, direct);
    loopDelay.disable();
    const delayMs = loopDelay.percentile(99) / 1e6;
    const block = await moveHead(lite, api, network.lastSeqno);
    const checkMs = await measureCheck(network, block, direct);
    const [readMs, directMs] = [median(ms.http), median(ms.direct)];
    const overheadMs = readMs - directMs;
    return [
      {
        name: 'verified read through HTTP, p50',
        value: readMs,
        unit: 'ms',
        baseline: { name: 'direct lite-server query', value: directMs },
        ratio: directMs / readMs,
      },
      {
        name: 'overhead of a verified read, p50',
        value: overheadMs,
        unit: 'ms',
        goal: '<= 2 ms',
        met: overheadMs <= 2,
      },
      {
        name: 'verified read through HTTP, p99',
        value: quantile(ms.http, 0.99),
        unit: 'ms',
        baseline: { name: 'direct lite-server query', value: quantile(ms.direct, 0.99) },
        ratio: quantile(ms.direct, 0.99) / quantile(ms.http, 0.99),
      },
      { name: 'HTTP request without a lite-server query, p50', value: median(ms.bare), unit: 'ms' },
      { name: 'event loop delay while reading, p99', value: delayMs, unit: 'ms', goal: '<= 20 ms', met: delayMs <= 20 },
      { name: 'CPU of the check', value: checkMs, unit: 'ms', goal: '<= 0.5 ms', met: checkMs <= 0.5 },
    ];
  } finally {
    await Promise.all([api.close(), direct.close()]);
    lite.disconnect();
  }
}

export const bench: Bench = {
  about: 'a verified account read through HTTP, against the same query asked directly of the same lite server',
  run,
};
