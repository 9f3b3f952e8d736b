import { randomBytes } from 'node:crypto';

import { pino } from 'pino';
import { Registry } from 'prom-client';

import { configFromGlobalConfig, unlimitedPlan, type ProcessSettings, type ServiceConfig } from '#service/config.ts';
import { createDevchain, type Devchain } from '#service/devchain/devchain.ts';
import type { KeyRow } from '#service/limits/keyring.ts';
import { makeKey } from '#service/limits/keys.ts';
import { startApi, type Api } from '#service/main/roles/api.ts';
import { createLogger } from '#service/telemetry/logger.ts';
import { createRegister } from '#service/telemetry/register.ts';
import { recordingDirs } from './fixtures.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';

/** What a lite server of the recorded network may be told to do wrong. */
export type Faults = Parameters<Devchain['liteServers'][number]['setFaults']>[0];

/** The whole service in this process, over lite servers of a recorded network whose head moves when the test says so. */
export type ApiUnderTest = {
  readonly network: Devchain;
  readonly api: Api;
  readonly register: Registry;
  /** That of the lite servers. */
  readonly networkRegister: Registry;
  readonly key: string;
  /** Everything that was logged, one JSON object a line. */
  log(): string;
  /** GET of an operation with the key; the parsed envelope with its status. */
  get(path: string): Promise<Answered>;
  /** POST of an operation with the key and a JSON body. */
  post(operation: string, body: object): Promise<Answered>;
  close(): Promise<void>;
};

type Answered = { status: number; body: Record<string, unknown> };

export type ApiUnderTestOptions = {
  /** Lite servers; default 1. */
  readonly servers?: number;
  /** Blocks between the head and the end of the recording; default 300. */
  readonly behindBlocks?: number;
  readonly requestTimeoutMs?: number;
  readonly settings?: ProcessSettings;
  /** Default `verified`. */
  readonly trust?: ServiceConfig['trust'];
  /** Of `api.v2` in the manifest. */
  readonly v2?: Partial<ServiceConfig['api']['v2']>;
  /** Reads that a lite server is given at a time at most. */
  readonly maxInFlight?: number;
  /** Namespace of the TonApi; none by default. */
  readonly namespace?: string;
  /** Of the Redis shared with other APIs under test. */
  readonly redisUrl?: string;
  /** Of the index, whose tables are there: v3 is served too. */
  readonly postgresUrl?: string;
  /** URL of a read replica of the index. */
  readonly postgresReplicaUrl?: string;
  /** Lag of the replica beyond which the primary is asked. */
  readonly replicaMaxLagMs?: number;
  /** The index is written too. */
  readonly writesIndex?: boolean;
  /** Keys besides the API's own. */
  readonly rows?: readonly KeyRow[];
};

/** A day: no block comes by itself. */
const never = 86_400;

/** Starts `servers` lite servers and the API over them on free ports, and waits until it is ready. */
export async function startApiUnderTest(options: ApiUnderTestOptions = {}): Promise<ApiUnderTest> {
  const [recordingDir] = recordingDirs();
  if (recordingDir === undefined) throw new Error('no recorded network among the fixtures');
  const silent = pino({ level: 'silent' });
  const networkRegister = new Registry();
  const network = await createDevchain(
    {
      recordingDir,
      paceSeconds: never,
      startBehindBlocks: options.behindBlocks ?? 300,
      servers: Array.from({ length: options.servers ?? 1 }, () => ({})),
    },
    { logger: silent, register: networkRegister, chain: await recordedChain(recordingDir) },
  );
  return { ...(await startApiOver(network, options, networkRegister)), network };
}

/** The whole service in this process over lite servers that run already; its `close` ends them as well. */
export async function startApiOver(
  network: { globalConfig(): object; close(): Promise<void> },
  options: Omit<ApiUnderTestOptions, 'servers' | 'behindBlocks'> = {},
  networkRegister: Registry = new Registry(),
): Promise<Omit<ApiUnderTest, 'network'>> {
  const { key, id, sha256 } = makeKey(randomBytes);
  const lines: string[] = [];
  const register = createRegister({ version: '0.0.0', commit: 'test' });
  const config = configFromGlobalConfig(JSON.stringify(network.globalConfig()), 'custom', {
    port: 0,
    internalPort: 0,
    database: options.postgresUrl !== undefined,
    ...options.settings,
  });
  const api = await startApi(
    {
      ...config,
      namespace: options.namespace ?? config.namespace,
      requestTimeoutMs: options.requestTimeoutMs ?? config.requestTimeoutMs,
      trust: options.trust ?? config.trust,
      liteServers: config.liteServers.map((one) => ({ ...one, maxInFlight: options.maxInFlight ?? one.maxInFlight })),
      postgres: config.postgres && {
        ...config.postgres,
        replicaMaxLagMs: options.replicaMaxLagMs ?? config.postgres.replicaMaxLagMs,
      },
      api: { ...config.api, v2: { ...config.api.v2, ...options.v2 } },
    },
    {
      keys: [{ id, sha256, plan: unlimitedPlan }, ...(options.rows ?? [])],
      drainMs: 500,
      redisUrl: options.redisUrl,
      postgresUrl: options.postgresUrl,
      postgresReplicaUrl: options.postgresReplicaUrl,
      writesIndex: options.writesIndex ?? false,
    },
    {
      version: '0.0.0',
      logger: createLogger({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
      register,
    },
  );
  const ask = async (path: string, init: RequestInit = {}): Promise<Answered> => {
    const response = await fetch(`${api.url}/api/v2/${path}`, { ...init, headers: { 'x-api-key': key } });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const running: Omit<ApiUnderTest, 'network'> = {
    api,
    register,
    networkRegister,
    key,
    log: () => lines.join(''),
    get: (path) => ask(path),
    post: (operation, body) => ask(operation, { method: 'POST', body: JSON.stringify(body) }),
    async close() {
      await api.close();
      await network.close();
    },
  };
  await untilReady(running);
  return running;
}

async function untilReady({ api }: Pick<ApiUnderTest, 'api'>): Promise<void> {
  for (const deadline = Date.now() + 120_000; Date.now() < deadline;) {
    if ((await fetch(`${api.internalUrl}/readyz`)).ok) return;
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error(`not ready: ${await (await fetch(`${api.internalUrl}/status`)).text()}`);
}
