import { join } from 'node:path';

import type { Tracer } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { ServiceConfig } from '#service/config.ts';
import { scopeOf } from '#service/config/scope.ts';
import { connectRedis } from '#service/limits/redis/connection.ts';
import { createLiteServer } from '#service/liteserver/liteserver.ts';
import { tuningDefaults } from '#service/pool/options.ts';
import { createPool, type Pool } from '#service/pool/pool.ts';
import { createProofMetrics } from '#service/proof/metrics.ts';
import { createSignatureChecker, type SignatureChecker } from '#service/proof/signature-checker.ts';
import { createTrustChain, type TrustChain } from '#service/proof/trust-chain.ts';
import { workerUrl } from '../worker-url.ts';
import { redisServerOf, type RedisParts } from './redis.ts';

export type PoolOptions = RedisParts & {
  /** Share of the usual bytes of cached answers, above 0 to 1; default 1. */
  readonly cachePart?: number;
};

export type PoolParts = {
  readonly pool: Pool;
  readonly trusted: () => TrustChain | undefined;
  readonly signatures: SignatureChecker;
};

/** File of the proved key blocks in the folder of a process. */
export const trustedBlocksFile = (stateDir: string): string => join(stateDir, 'trusted-blocks.json');

/** The pool with the trust chain over it and the threads that check signatures. */
export function startPool(
  config: ServiceConfig,
  { cachePart = 1, ...options }: PoolOptions,
  shared: { readonly logger: Logger; readonly register: Registry; readonly tracer: Tracer },
): PoolParts {
  const { logger, register } = shared;
  const signatures = createSignatureChecker(
    { workerUrl: workerUrl('proof/signature-worker.ts') },
    { register, logger },
  );
  const { anchors, stateDir } = config;
  const redis = redisServerOf(options);
  let trusted: TrustChain | undefined;
  const pool = createPool(
    {
      liteServers: config.liteServers,
      zeroState: anchors.zeroState,
      trust: config.trust,
      tuning: { cacheBytesMax: tuningDefaults.cacheBytesMax * cachePart },
    },
    {
      ...shared,
      proofs: createProofMetrics(register),
      createLiteServer: (liteServer) => createLiteServer(liteServer, shared),
      createTrustChain: (fetchProof) => {
        trusted = createTrustChain(
          {
            initBlock: anchors.initBlock,
            zeroState: anchors.zeroState,
            ...(stateDir !== null && { file: trustedBlocksFile(stateDir) }),
          },
          { fetchProof, signatures, register, logger },
        );
        return trusted;
      },
      now: () => performance.now(),
      random: Math.random,
      shared:
        redis === undefined
          ? undefined
          : {
              connect: () => connectRedis({ ...redis, retryMs: () => 100 + Math.random() * 200 }),
              api: scopeOf(config),
            },
    },
  );
  return { pool, trusted: () => trusted, signatures };
}
