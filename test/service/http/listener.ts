import { trace } from '@opentelemetry/api';
import { pino } from 'pino';
import { Registry } from 'prom-client';

import { createHttpServer, type HttpServer, type HttpServerDependencies } from '#service/http/server.ts';
import type { HttpOptions } from '#service/http/options.ts';
import type { Allowed, Decision, LimitRequest, Limits } from '#service/limits/limits.ts';
import type { LiveAccounts } from '#service/live/accounts/accounts.ts';
import { createExtendedAccounts } from '#service/live/contracts/extended-accounts.ts';
import { createV2, type V2Dependencies, type V2Options } from '#service/v2/v2.ts';
import { scriptAccounts } from '#test/service/v2/scripted-accounts.ts';
import { scriptDns, scriptFees, scriptTokens } from '#test/service/v2/scripted-contracts.ts';
import { scriptGetMethods } from '#test/service/v2/scripted-get-methods.ts';
import { scriptConfiguration } from '#test/service/v2/scripted-configuration.ts';
import { scriptBlocks } from '#test/service/v2/scripted-blocks.ts';
import { scriptLegacySend, scriptSend } from '#test/service/v2/scripted-send.ts';
import { scriptTransactions } from '#test/service/v2/scripted-transactions.ts';

/** A real listener on a free port of loopback, with what a test may look at. */
export type Listener = {
  readonly url: string;
  readonly port: number;
  readonly server: HttpServer;
  readonly register: Registry;
  /** Parsed log lines. */
  readonly logs: Record<string, unknown>[];
  close(): Promise<void>;
};

export type ListenerSetup = {
  readonly accounts?: LiveAccounts;
  /** Further families; scripted by default. */
  readonly live?: Partial<V2Dependencies>;
  readonly v2?: Partial<V2Options>;
  readonly limits?: Limits;
  readonly options?: Partial<HttpOptions>;
  readonly dependencies?: Partial<HttpServerDependencies>;
};

/** Unix time of all answers: 1755516054 s, as in the contract's examples. */
export const answerUnixMs = 1_755_516_054_321;

export const allowed: Allowed = {
  allowed: true,
  plan: 'test',
  grants: { archive: false, liteServerTiers: ['shared'] },
  getMethods: { payer: 'anonymous' },
  streaming: { owner: '127.0.0.1', connections: 2, addresses: 10, traces: 3 },
  quota: null,
  release: () => undefined,
};

/** Limits that decide by a function; allow everything by default. Remembers what was asked. */
export function scriptLimits(decide: (request: LimitRequest) => Decision = () => allowed): Limits & {
  readonly asked: LimitRequest[];
} {
  const asked: LimitRequest[] = [];
  const decideNow = (request: LimitRequest): Promise<Decision> => {
    asked.push(request);
    return Promise.resolve(decide(request));
  };
  return {
    asked,
    decide: decideNow,
    async enter(caller) {
      const decision = decide({ ...caller, operation: 'jsonRPC' });
      if (!decision.allowed) return decision;
      return { ...decision, charge: (operation) => decideNow({ ...caller, operation }) };
    },
    async usage(caller) {
      const decision = await decideNow({ ...caller, operation: 'usage' });
      if (!decision.allowed) return decision;
      return { ...decision, keyId: 'scripted', usage: { day: '2026-11-21', operations: {}, refused: 0 } };
    },
    refusal: () => undefined,
    isInForce: () => true,
    standing: () => null,
    setPlans: () => undefined,
    setOnRedisFailure: () => undefined,
    close: async () => undefined,
  };
}

export async function startListener(setup: ListenerSetup = {}): Promise<Listener> {
  const register = new Registry();
  const logs: Record<string, unknown>[] = [];
  const logger = pino({ level: 'debug' }, { write: (line) => logs.push(JSON.parse(line) as Record<string, unknown>) });
  const options: HttpOptions = {
    host: '127.0.0.1',
    port: 0,
    requestTimeoutMs: 10_000,
    drainMs: 1000,
    trustedProxies: 0,
    rest: true,
    rpc: true,
    ...setup.options,
  };
  const accounts = setup.accounts ?? scriptAccounts();
  const server = createHttpServer(options, {
    v2: createV2(
      { release: 0, ...setup.v2 },
      {
        accounts,
        extended: createExtendedAccounts({ accounts, configuration: scriptConfiguration() }),
        blocks: scriptBlocks(),
        configuration: scriptConfiguration(),
        transactions: scriptTransactions(),
        send: scriptSend(),
        legacySend: scriptLegacySend(),
        getMethods: scriptGetMethods(),
        tokens: scriptTokens(),
        dns: scriptDns(),
        fees: scriptFees(),
        ...setup.live,
      },
    ),
    limits: setup.limits ?? scriptLimits(),
    logger,
    tracer: trace.getTracer('test'),
    register,
    clock: { nowMs: () => performance.now(), unixMs: () => answerUnixMs },
    ...setup.dependencies,
  });
  const { host, port } = await server.listen();
  return { url: `http://${host}:${port}`, port, server, register, logs, close: () => server.close() };
}
