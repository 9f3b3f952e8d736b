import { randomBytes } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  configFromGlobalConfig,
  defaultHost,
  defaultPorts,
  unlimitedPlan,
  type ProcessSettings,
  type ServiceConfig,
} from '#service/config.ts';
import type { ReadContext } from '#service/contract/answer.ts';
import type { Operation } from '#service/contract/operation.ts';
import { closePart } from '../closing.ts';
import { startApi, type Api, type ApiDependencies } from './api.ts';
import type { Arguments } from '../configuration/arguments.ts';
import { openDevIndex, prepareDevIndex, type DevIndex } from '../postgres/dev-index.ts';
import { keyFileName, loadDevKey } from '../configuration/dev-key.ts';
import { makeWritableFolder } from '../configuration/named-files.ts';
import type { NewKey } from '#service/limits/keys.ts';
import type { DevNetwork } from '../network/dev-network.ts';
import type { ExplorerOptions } from '../wiring/explorer.ts';
import type { TerminalLine } from '../status/terminal-line.ts';
import { forgetLostKeyBlocks } from '../network/lost-blocks.ts';
import { startPrivateNetwork } from '../network/start-private-network.ts';
import { startRecordedNetwork } from '../network/recorded-network.ts';
import { exampleParameters, startPages, startPaths } from '../network/start-page.ts';
import { createStatusLine } from '../status/status-line.ts';
import { refuseTakenPorts, type WantedPort } from '../network/taken-ports.ts';
import { welcomeJson, welcomeText, type WelcomeFacts } from '../network/welcome.ts';

/** Ctrl-C must end the process within 2 s, whatever still runs. */
const DRAIN_MS = 500;

/** Actions at the internal port are for this machine alone. */
const internalHost = '127.0.0.1';

/** The API follows its lite server within milliseconds. A machine that is too busy for that must not block an answer forever. */
const SERVED_WITHIN_MS = 5000;
const SERVED_EVERY_MS = 5;

/** The API has few callers and shares its process with the network and the index writer. */
const cachePart = 1 / 8;

export type DevDependencies = ApiDependencies & { readonly output: NodeJS.WriteStream };

/**
 * Starts a TON network in this process, its index and the API over both. The pool uses its lite server like any other, over ADNL on
 * loopback.
 */
export async function startDev(
  args: Arguments,
  settings: ProcessSettings,
  dependencies: DevDependencies,
): Promise<{ close(): Promise<void> }> {
  const { logger, output } = dependencies;
  makeWritableFolder('--data', args.data);
  await refuseTakenPorts(portsOf(args));
  await using parts = new AsyncDisposableStack();
  const { network, index } = await openBoth(args, dependencies);
  parts.defer(async () => void (await Promise.all([network.close(), index?.close()])));
  const devKey = loadDevKey(args.data, randomBytes);
  const access = { keyRequired: args.requireKey || !isLoopback(args.host), isLoopback: isLoopback(args.host) };
  const database = index !== undefined;
  const config = configFromGlobalConfig(globalConfigOf(network), 'custom', {
    ...settings,
    stateDir: network.stateDir,
    database,
    isOpen: !access.keyRequired,
  });
  forgetLostKeyBlocks(config, network, { logger });
  if (database) await prepareDevIndex(config, index, { logger, hasLost: network.hasLost });
  const api = await startDevApi(config, { network, index, devKey, access }, dependencies);
  parts.adopt(api, closePart);
  if (database) await indexBegins(api);
  const facts = welcomeFacts(api, { network, index, devKey, access });
  if (args.json) output.write(`${JSON.stringify(welcomeJson(facts))}\n`);
  else output.write(welcomeText(facts));
  if (!args.json) parts.adopt(startStatusLine(output, api, network), closePart);
  const running = parts.move();
  return { close: () => running.disposeAsync() };
}

function startStatusLine(output: NodeJS.WriteStream, api: Api, network: DevNetwork): TerminalLine {
  return createStatusLine(
    { output },
    {
      facts: async () => ({
        ...network.facts(),
        headSeqno: api.pool.head()?.block.seqno,
        index: api.index()?.text,
        liteServersUsable: api.pool.status().filter(({ phase }) => phase === 'in').length,
        requests: await api.requests(),
      }),
    },
  );
}

function welcomeFacts(api: Api, { network, index, devKey, access }: DevParts): WelcomeFacts {
  const { title, notes, sampleAddress, globalId, liteServer, accounts, demo } = network;
  return {
    title,
    url: api.url,
    internalUrl: api.internalUrl,
    hasIndex: index !== undefined,
    key: devKey.key,
    ...access,
    globalId,
    liteServer,
    accounts,
    balanceOf: (place) => network.balanceOf(place),
    demo,
    notes: [...notes, ...(index === undefined ? [] : [index.note])],
    sampleAddress,
  };
}

function portsOf({ host = defaultHost, port, internalPort, liteServerPort }: Arguments): WantedPort[] {
  return [
    { option: '--port', host, port: port ?? defaultPorts.public },
    { option: '--internal-port', host: internalHost, port: internalPort ?? defaultPorts.internal },
    { option: '--lite-server-port', host: internalHost, port: liteServerPort },
  ];
}

/** A listener that other machines cannot reach. */
function isLoopback(host = defaultHost): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

/** The commands of the welcome shall work: waits for the first indexed block. */
async function indexBegins(api: Api): Promise<void> {
  const isEmpty = (): boolean => (api.index()?.headSeqno ?? 0) === 0;
  for (let waitedMs = 0; waitedMs < SERVED_WITHIN_MS && isEmpty(); waitedMs += SERVED_EVERY_MS) {
    await sleep(SERVED_EVERY_MS);
  }
}

type DevParts = {
  readonly network: DevNetwork;
  readonly index: DevIndex | undefined;
  readonly devKey: NewKey;
  readonly access: Pick<WelcomeFacts, 'keyRequired' | 'isLoopback'>;
};

/** The network and its Postgres start side by side: each takes a second. */
async function openBoth(
  args: Arguments,
  { version, logger, register, output }: DevDependencies,
): Promise<Pick<DevParts, 'network' | 'index'>> {
  // Standard output has a single line of JSON and nothing else.
  const notices = args.json ? process.stderr : output;
  const start = args.recorded ? startRecordedNetwork : startPrivateNetwork;
  const opening = start(args, { version, logger, register, output: notices });
  // The network rejects an unusable folder quickly, before Postgres is started.
  if (args.keepChain) await opening;
  const [network, index] = await Promise.allSettled([
    opening,
    openDevIndex(args, process.env, { output: notices, logger }),
  ]);
  if (network.status === 'fulfilled' && index.status === 'fulfilled') {
    return { network: network.value, index: index.value };
  }
  if (network.status === 'fulfilled') await network.value.close();
  if (index.status === 'fulfilled') await index.value?.close();
  const [first] = [network, index].filter((one) => one.status === 'rejected');
  throw first?.reason;
}

function globalConfigOf(network: DevNetwork): string {
  return JSON.stringify(network.globalConfig(), undefined, 2);
}

async function startDevApi(
  config: ServiceConfig,
  parts: DevParts,
  { version, logger, register }: ApiDependencies,
): Promise<Api> {
  const { network, index, devKey, access } = parts;
  const { accountsBrought } = network;
  const isServed = async (from: number): Promise<boolean> => {
    const seqno = network.headSeqno();
    const isRead = (api.pool.head()?.block.seqno ?? 0) >= seqno;
    return isRead && (index === undefined || (await api.hasIndexed(from, seqno)));
  };
  /** Waits until the API and its index serve the blocks from a seqno to the network's head. */
  const served = async (from: number): Promise<void> => {
    const until = performance.now() + SERVED_WITHIN_MS;
    while (!(await isServed(from)) && performance.now() < until) await sleep(SERVED_EVERY_MS);
  };
  /** Runs a developer's action. The next read sees its result. */
  const thenServed = async <T>(run: () => Promise<T>): Promise<T> => {
    const from = network.headSeqno();
    try {
      return await run();
    } finally {
      await served(from);
    }
  };
  const api: Api = await startApi(
    config,
    {
      keys: [{ id: devKey.id, sha256: devKey.sha256, plan: unlimitedPlan }],
      keyHint: `send the header X-API-Key with the key that the start printed, also in the file ${keyFileName} of --data`,
      drainMs: DRAIN_MS,
      pages: new Map([
        ['/global.config.json', () => ({ contentType: 'application/json', body: globalConfigOf(network) })],
        ...network.internalPages(version),
      ]),
      posts: new Map(
        [...network.posts].map(([path, handler]) => [
          path,
          { name: handler.name, run: (body, signal) => thenServed(() => handler.run(body, signal)) },
        ]),
      ),
      internalPosts: new Map(
        [...network.internalPosts].map(([path, run]) => [path, (body) => thenServed(() => run(body))]),
      ),
      ownPages: startPages({
        facts: () => welcomeFacts(api, parts),
        network,
        state: () => ({
          headSeqno: api.pool.head()?.block.seqno,
          isReady: api.pool.ready(),
          index: api.index()?.text,
        }),
      }),
      examples: exampleParameters(network),
      explorer: explorerOf(network, access),
      internalHost,
      ...(network.conditions !== undefined && { conditions: network.conditions }),
      postgresUrl: index?.url,
      ...index?.certificates,
      writesIndex: index !== undefined,
      cachePart,
      ...(accountsBrought !== undefined && { around: readAgain(accountsBrought, () => served(network.headSeqno())) }),
      status: () => network.status(),
    },
    { version, logger, register },
  );
  return api;
}

function explorerOf({ internalPosts }: DevNetwork, access: DevParts['access']): ExplorerOptions {
  const isPrivate = internalPosts.has('/dev');
  return {
    network: isPrivate ? 'private network' : 'recorded network',
    isPrivate,
    startPage: startPaths.start,
    documents: startPaths.documents,
    ...(access.keyRequired && access.isLoopback && { keyFacts: startPaths.facts }),
  };
}

/** Accounts that one operation may fetch in sequence: a contract, its master, its content. */
const READ_AGAIN_MAX = 16;

/** Repeats an operation at a newer block when an account was fetched from the forked network during the run. */
function readAgain(
  brought: () => number,
  served: () => Promise<void>,
): <C extends ReadContext>(operation: Operation<C>) => Operation<C> {
  return (operation) => ({
    ...operation,
    async run(source, context) {
      for (let again = 0; ; again++) {
        const before = brought();
        try {
          const answer = await operation.run(source, context);
          if (brought() === before || again === READ_AGAIN_MAX) return answer;
        } catch (error) {
          if (brought() === before || again === READ_AGAIN_MAX) throw error;
        }
        await served();
      }
    },
  });
}
