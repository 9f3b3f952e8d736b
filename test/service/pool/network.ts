import { trace } from '@opentelemetry/api';
import type { Tracer } from '@opentelemetry/api';
import { pino } from 'pino';
import { Registry } from 'prom-client';

import { createDevchain } from '#service/devchain/devchain.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import { connectRedis } from '#service/limits/redis/connection.ts';
import { createLiteServer } from '#service/liteserver/liteserver.ts';
import type { LiteServer } from '#service/liteserver/liteserver.ts';
import type { PoolLiteServer, PoolTuning, Trust } from '#service/pool/options.ts';
import { createPool } from '#service/pool/pool.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { PoolContext } from '#service/pool/reads.ts';
import { createProofMetrics } from '#service/proof/metrics.ts';
import { createSignatureChecker } from '#service/proof/signature-checker.ts';
import { createTrustChain } from '#service/proof/trust-chain.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';
import { startRunningTime } from '#test/support/running-time.ts';

/** Faults of a lite server of the recorded network. */
export type Faults = Parameters<Devchain['liteServers'][number]['setFaults']>[0];

const silent = pino({ level: 'silent' });

/** Starts the first recorded network with `servers` lite servers. Its head stands still until it is moved. */
export async function startNetwork(servers: number, options: { startBehindBlocks?: number } = {}): Promise<Devchain> {
  const [recordingDir] = recordingDirs();
  if (recordingDir === undefined) throw new Error('no recorded network among the fixtures');
  const never = 1e6;
  return createDevchain(
    {
      recordingDir,
      paceSeconds: never,
      startBehindBlocks: options.startBehindBlocks ?? 300,
      servers: Array.from({ length: servers }, () => ({})),
    },
    { logger: silent, register: new Registry(), chain: await recordedChain(recordingDir) },
  );
}

/** Times that make faults show within a test, in the proportions of the real ones. */
export const quickTuning: Partial<PoolTuning> = {
  slowAfterMs: 60,
  overdueMs: 200,
  queryTimeoutMs: 1_500,
  waitMs: 400,
  waitMarginMs: 200,
  pollMs: 40,
  proveTimeoutMs: 1_500,
  firstProveTimeoutMs: 6_000,
  refusedMs: 100,
  catchUpMs: 200,
  // On a busy machine a process may stand still for longer than a real Redis takes.
  sharedAnswerMs: 200,
};

/** For tests in which every lite server answers or refuses at once. A busy machine makes none slow or silent, so no query is made twice. */
export const patientTuning = {
  slowAfterMs: 60_000,
  overdueMs: 60_000,
  queryTimeoutMs: 60_000,
  waitMarginMs: 60_000,
  proveTimeoutMs: 60_000,
  firstProveTimeoutMs: 60_000,
} satisfies Partial<PoolTuning>;

/** For tests in which some lite servers are silent and a good one has to stay in, on a busy machine too. */
export const sturdyTuning = { overdueMs: 700, waitMarginMs: 1_000 } satisfies Partial<PoolTuning>;

/** Options of a read whose test looks at the choice of lite servers and not at the answer. */
export const unchecked = { check: <R>(answer: R): R => answer };

export type PoolUnderTest = {
  readonly pool: Pool;
  readonly register: Registry;
  /** Lines of the pool's log at warn and above, as JSON. */
  readonly log: Record<string, unknown>[];
  close(): Promise<void>;
};

/** Signature checker of all pools of a thread: each has a thread of its own, whose start takes 0.1 s of CPU. */
export const signatures = createSignatureChecker({}, { register: new Registry(), logger: silent });

/** Returns the network's lite servers in a pool's configuration: `ls0`, `ls1`... */
export function liteServersOf(network: Devchain): PoolLiteServer[] {
  return network.liteServers.map(({ host, port, publicKey }, index) => ({ name: `ls${index}`, host, port, publicKey }));
}

/** Opens a pool over the network's lite servers, wired like in the service. */
export function openPool(
  network: Devchain,
  options: {
    trust?: Trust;
    tuning?: Partial<PoolTuning>;
    tracer?: Tracer;
    use?: readonly number[];
    /** Further configuration of each lite server, by its number in the network. */
    uses?: readonly Partial<PoolLiteServer>[];
    wrap?: (server: LiteServer) => LiteServer;
    /** URL of the Redis shared with other pools. */
    redisUrl?: string;
    /** Clock of the pool, in milliseconds. */
    now?: () => number;
  } = {},
): PoolUnderTest {
  const register = new Registry();
  const log: Record<string, unknown>[] = [];
  const logger = pino(
    { level: 'warn' },
    { write: (line: string) => void log.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const zero = network.chain.zeroStates[0]!.id;
  const all = liteServersOf(network).map((liteServer, index) => ({ ...liteServer, ...options.uses?.[index] }));
  const { wrap = (server) => server, redisUrl } = options;
  // A test with late second attempts counts queries, so it has no early ones.
  const { slowAfterMs } = options.tuning ?? {};
  const hedge = slowAfterMs === undefined ? {} : { hedgeMsMin: slowAfterMs };
  const pool = createPool(
    {
      liteServers: options.use === undefined ? all : options.use.map((index) => all[index]!),
      zeroState: zero,
      trust: options.trust ?? 'verified',
      tuning: { ...quickTuning, ...hedge, ...options.tuning },
    },
    {
      createLiteServer: (liteServer) => wrap(createLiteServer(liteServer, { logger, register })),
      createTrustChain: (fetchProof) =>
        createTrustChain({ initBlock: zero, zeroState: zero }, { fetchProof, signatures, register, logger }),
      logger,
      register,
      proofs: createProofMetrics(register),
      tracer: options.tracer ?? trace.getTracer('none'),
      now: options.now ?? (() => performance.now()),
      random: Math.random,
      shared:
        redisUrl === undefined
          ? undefined
          : { connect: () => connectRedis({ url: redisUrl, retryMs: () => 100 }), api: 'test' },
    },
  );
  return {
    pool,
    register,
    log,
    close: () => pool.close(),
  };
}

/** Returns the bounds of a read. */
export function within(timeoutMs: number, signal = new AbortController().signal): PoolContext {
  return { deadlineMs: performance.now() + timeoutMs, signal };
}

/** Milliseconds between two checks of `until`. */
const LOOK_MS = 5;

/** Resolves when the condition holds; rejects after `timeoutMs` in which this process could run. */
export async function until(condition: () => boolean, timeoutMs = 60_000): Promise<void> {
  const time = startRunningTime();
  try {
    while (!condition()) {
      if (time.ms() > timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${condition.toString()}`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  } finally {
    time.stop();
  }
}

/** Returns the value of a counter or gauge with these labels; 0 when there is none. */
export async function metric(register: Registry, name: string, labels: Record<string, string> = {}): Promise<number> {
  const found = await register.getSingleMetric(name)?.get();
  const values = found?.values.filter((value) =>
    Object.entries(labels).every(([key, wanted]) => value.labels[key] === wanted),
  );
  return values?.reduce((sum, { value }) => sum + value, 0) ?? 0;
}
