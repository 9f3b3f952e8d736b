import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { pino } from 'pino';
import { Registry } from 'prom-client';

import { MASTERCHAIN, FULL_SHARD } from '#service/decode/block-id.ts';
import { getAccountState, lookupBlock } from '#service/liteserver/functions.ts';
import { createLiteServer, type LiteServer } from '#service/liteserver/liteserver.ts';
import { installTonlib } from '#test/service/devchain/tonlib.ts';
import { startPythonPeer } from '#test/support/python-peer.ts';
import { median, wantedOf, type Bench, type BenchResult } from './bench.ts';
import {
  fetchOnce,
  groupCpuMs,
  load,
  startContender,
  type BenchRequest,
  type Contender,
  type Load,
  type Scenario,
  type ServerSettings,
} from './v2/contender.ts';

/** CPU time that a server has for a load: long enough for hundreds of requests of the slowest one; a block comes with each second. */
const loadCpuMs = 2000;

/** Loads of each server, all servers in turns, so that what the machine does meanwhile befalls all. */
const rounds = 3;

/**
 * The pace of the network's masterchain is a block a second. A server that has one core to itself spends a second of its time in that; by this time of
 * its own each server gets its blocks, so that one which is given less of a busy machine does not get more of them for the same work.
 */
const blockCpuMs = 1000;

/** How often it is looked at what a server has spent. */
const lookMs = 20;

/** A server that waits more than it works has had enough after this. */
const loadMsMax = 30_000;

/** Blocks at which single reads are timed, and single get-methods. */
const blocks = 20;
const methodBlocks = 10;

const timeoutMs = 10_000;

type Network = ServerSettings & {
  readonly firstSeqno: number;
  readonly lastSeqno: number;
  /** Those that the recording knows by name, and up to a thousand of all. */
  readonly addresses: readonly string[];
  readonly accounts: readonly string[];
};

const getMethod = (address: string, method: string): BenchRequest => ({
  path: '/runGetMethod',
  body: JSON.stringify({ address, method, stack: [] }),
});

const read = (address: string): BenchRequest => ({ path: `/getAddressInformation?address=${address}` });

type LoadName = (typeof loadNames)[number];

/** Wallets and jetton masters: found by asking, as recordings name their accounts as they like. */
type Contracts = { readonly wallets: readonly string[]; readonly jettons: readonly string[] };

/** Names for `--only`: single reads and get-methods, and the loads. */
const singleNames = ['reads', 'methods'] as const;
const loadNames = ['account', 'accounts', 'head', 'seqno', 'jetton', 'transactions'] as const;

function scenariosOf({ accounts }: Network, { wallets, jettons }: Contracts): Record<LoadName, Scenario> {
  const [wallet, jetton] = [wallets[0]!, jettons[0]!];
  const addresses = Array.from({ length: 1000 }, (_, index) => accounts[index] ?? absentAddress(index));
  return {
    account: { name: 'getAddressInformation, one address', next: () => read(wallet) },
    accounts: {
      name: 'getAddressInformation, 1,000 addresses',
      next: (draw) => read(addresses[draw(addresses.length)]!),
    },
    head: { name: 'getMasterchainInfo', next: () => ({ path: '/getMasterchainInfo' }) },
    seqno: { name: 'runGetMethod seqno', next: () => getMethod(wallet, 'seqno') },
    jetton: { name: 'runGetMethod get_jetton_data', next: () => getMethod(jetton, 'get_jetton_data') },
    transactions: {
      name: 'getTransactions, 10',
      next: () => ({ path: `/getTransactions?address=${wallet}&limit=10` }),
    },
  };
}

/** Accounts that are not there are proved not to be: the same work. */
function absentAddress(index: number): string {
  return `0:${index.toString(16).padStart(64, '7')}`;
}

/** The newest block of the network, moved by hand. */
type Head = { seqno(): number; move(): void };

function createHead(lite: ChildProcess, { firstSeqno, lastSeqno }: Network): Head {
  let seqno = firstSeqno;
  return {
    seqno: () => seqno,
    move() {
      // At a head that stays, every answer would come from a cache.
      if (seqno === lastSeqno) throw new Error('the recording has too few blocks for this');
      seqno++;
      lite.send(seqno);
    },
  };
}

/** A load while a block comes with each second of the server's own time. */
async function loadOnMovingHead(contender: Contender, scenario: Scenario, head: Head): Promise<Load> {
  const before = contender.cpuMs();
  const startedMs = performance.now();
  let spentMs = 0;
  let moved = 0;
  const look = (): void => {
    spentMs = contender.cpuMs() - before;
    if (spentMs >= loadCpuMs || spentMs < moved * blockCpuMs) return;
    moved++;
    head.move();
  };
  look();
  const timer = setInterval(look, lookMs);
  try {
    return await load(contender, scenario, () => spentMs >= loadCpuMs || performance.now() - startedMs > loadMsMax);
  } finally {
    clearInterval(timer);
  }
}

/** Requests a second of CPU time, all loads together. */
function perCore(loads: readonly Load[]): number {
  const sum = (of: (one: Load) => number): number => loads.reduce((total, one) => total + of(one), 0);
  return sum(({ requests }) => requests) / (sum(({ cpuMs }) => cpuMs) / 1000);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

/** Moves the head; what is asked next comes when the service has seen and proved the block. */
async function nextBlock(head: Head, service: Contender, agent: Agent): Promise<void> {
  head.move();
  await sleep(100);
  await fetchOnce(service, agent, read(absentAddress(head.seqno())));
}

/** Median time that the service adds to single reads at fresh blocks, none from a cache: direct ones and its own in turns. */
async function measureReads(network: Network, service: Contender, direct: LiteServer, head: Head): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ms = { direct: [] as number[], http: [] as number[] };
  for (let block = 0; block < blocks; block++) {
    await nextBlock(head, service, agent);
    const id = await blockAt(direct, head.seqno());
    for (const [turn, address] of network.addresses.entries()) {
      const [workchain, hex = ''] = address.split(':');
      const args = { id, account: { workchain: Number(workchain), id: Buffer.from(hex, 'hex') } };
      const askDirect = async () =>
        ms.direct.push(await timed(() => direct.query(getAccountState, args, { timeoutMs })));
      const askHttp = async () => ms.http.push(await timed(() => fetchOnce(service, agent, read(address))));
      for (const ask of turn % 2 === 0 ? [askDirect, askHttp] : [askHttp, askDirect]) await ask();
    }
  }
  agent.destroy();
  return median(ms.http) - median(ms.direct);
}

/** Median time of single get-methods at fresh blocks, with the read of the account: no run and no account from a cache. */
async function measureMethods({ wallets, jettons }: Contracts, service: Contender, head: Head): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const calls = [
    ...wallets.map((wallet) => getMethod(wallet, 'seqno')),
    ...jettons.map((jetton) => getMethod(jetton, 'get_jetton_data')),
  ];
  const ms: number[] = [];
  for (let block = 0; block < methodBlocks; block++) {
    await nextBlock(head, service, agent);
    for (const call of calls) ms.push(await timed(() => fetchOnce(service, agent, call)));
  }
  agent.destroy();
  return median(ms);
}

/** 1 is the mode that looks up by seqno. */
async function blockAt(direct: LiteServer, seqno: number) {
  const place = { workchain: MASTERCHAIN, shard: FULL_SHARD, seqno };
  return (await direct.query(lookupBlock, { mode: 1, id: place }, { timeoutMs })).id;
}

/** The accounts that answer `seqno` and `get_jetton_data` well. */
async function findContracts(service: Contender, addresses: readonly string[]): Promise<Contracts> {
  const answers = async (address: string, method: string): Promise<boolean> => {
    const { body } = getMethod(address, method);
    const headers = { 'x-api-key': service.key };
    const response = await fetch(`${service.url}/runGetMethod`, { method: 'POST', headers, body: body! });
    const { result } = (await response.json()) as { result?: { exit_code: number } };
    return result?.exit_code === 0;
  };
  const list = async (method: string): Promise<string[]> => {
    const found: string[] = [];
    for (const address of addresses) if (await answers(address, method)) found.push(address);
    if (found.length === 0) throw new Error(`no account of the recording has ${method}`);
    return found;
  };
  return { wallets: await list('seqno'), jettons: await list('get_jetton_data') };
}

async function startPython(globalConfig: string): Promise<Contender> {
  const installed = await installTonlib();
  if ('missing' in installed) throw new Error(`no Python server: ${installed.missing}`);
  const peer = await startPythonPeer(installed.python, globalConfig);
  return {
    name: 'Python server',
    url: peer.url,
    key: '',
    cpuMs: () => groupCpuMs(peer.group),
    usage: async () => ({ cpuMs: groupCpuMs(peer.group) }),
    close: () => peer.close(),
  };
}

/** How many times more requests a core answers. */
const goals: readonly { readonly name: RegExp; readonly against: string; readonly times: number }[] = [
  { name: /^getAddressInformation/, against: 'ton-lite-client, proving', times: 10 },
  { name: /./, against: 'Python server', times: 20 },
];

function compare(scenario: Scenario, ours: readonly Load[], against: Contender, theirs: readonly Load[]): BenchResult {
  const ratio = perCore(ours) / perCore(theirs);
  const goal = goals.find((row) => row.name.test(scenario.name) && row.against === against.name);
  return {
    name: `${scenario.name}: requests a second of one core's time`,
    value: perCore(ours),
    unit: 'req/s',
    baseline: { name: against.name, value: perCore(theirs) },
    ratio,
    ...(goal !== undefined && { goal: `>= ${goal.times}x`, met: ratio >= goal.times }),
  };
}

/** ton-lite-client leaves get-methods to the lite server, and ours runs none; only accounts are proved. */
const isServedBy = ({ name: contender }: Contender, { name }: Scenario): boolean =>
  contender === 'Python server' ||
  (contender.endsWith(' proving') ? name.startsWith('getAddress') : !name.startsWith('runGetMethod'));

/** Loads of each server in turns; those of the first turn only make what is hot compiled. */
async function measureLoad(scenario: Scenario, contenders: readonly Contender[], head: Head): Promise<Load[][]> {
  const loads = contenders.map((): Load[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      const measured = await loadOnMovingHead(contender, scenario, head);
      if (round > 0) loads[index]!.push(measured);
    }
  }
  return loads;
}

/** The first of the loads, the service's, against each of the others. */
function compareAll(scenario: Scenario, [ours = [], ...theirs]: Load[][], peers: readonly Contender[]): BenchResult[] {
  if (theirs.length > 0) return theirs.map((loads, index) => compare(scenario, ours, peers[index]!, loads));
  return [{ name: `${scenario.name}: requests a second of one core's time`, value: perCore(ours), unit: 'req/s' }];
}

function figure(name: string, value: number, maxMs: number): BenchResult {
  return { name, value, unit: 'ms', goal: `<= ${maxMs} ms`, met: value <= maxMs };
}

async function run(options: readonly string[]): Promise<BenchResult[]> {
  const wanted = wantedOf(options, [...singleNames, ...loadNames]);
  const lite = fork(join(import.meta.dirname, 'account-read/network.ts'));
  const [network] = (await once(lite, 'message')) as [Network];
  const publicKey = Buffer.from(network.liteServer.publicKey, 'hex');
  const shared = { logger: pino({ level: 'silent' }), register: new Registry() };
  const direct = createLiteServer({ name: 'direct', ...network.liteServer, publicKey }, shared);
  const service = await startContender('service', ['service.ts'], network);
  const handler = 'lite-client-server.ts';
  const peers = [
    await startContender('ton-lite-client, unproved', [handler], network),
    await startContender('ton-lite-client, proving', [handler, 'proving'], network),
  ];
  if (options.join(' ').includes('--peer python')) peers.push(await startPython(network.globalConfig));
  const head = createHead(lite, network);
  try {
    const contracts = await findContracts(service, network.addresses);
    const results: BenchResult[] = [];
    if (wanted.includes('reads')) {
      const addedMs = await measureReads(network, service, direct, head);
      results.push(figure('added to a direct lite-server query by a verified read, p50', addedMs, 2));
    }
    if (wanted.includes('methods')) {
      results.push(figure('get-method through HTTP, p50', await measureMethods(contracts, service, head), 5));
    }
    const scenarios = scenariosOf(network, contracts);
    const delays: number[] = [];
    for (const name of loadNames.filter((one) => wanted.includes(one))) {
      const rivals = peers.filter((one) => isServedBy(one, scenarios[name]));
      const loads = await measureLoad(scenarios[name], [service, ...rivals], head);
      results.push(...compareAll(scenarios[name], loads, rivals));
      const ours = loads[0]!;
      delays.push(median(ours.map(({ loopDelayMs }) => loopDelayMs ?? 0)));
      if (name === 'account') results.push(figure('CPU of a cached or coalesced answer', 1000 / perCore(ours), 0.3));
    }
    const delayName = 'delay of the event loop under the heaviest of the loads, p99';
    return delays.length === 0 ? results : [...results, figure(delayName, Math.max(...delays), 20)];
  } finally {
    await Promise.all([service, ...peers].map((one) => one.close()));
    await direct.close();
    lite.disconnect();
  }
}

export const bench: Bench = {
  about:
    'the v2 API over HTTP, against ton-lite-client with @ton/core in fastify and (--peer python) the Python server; --only NAME...: these figures',
  run,
};
