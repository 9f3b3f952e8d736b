import { setTimeout as sleep } from 'node:timers/promises';

import { trace } from '@opentelemetry/api';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';

import type { ForkSource } from '../devchain/fork.ts';
import type { ReadContext } from '../live/answer.ts';
import { createBlockFinder } from '../live/block-finder.ts';
import { createLiveAccounts } from '../live/live-accounts.ts';
import { createLiveConfiguration } from '../live/live-configuration.ts';
import { pinBlock } from '../live/pinned-block.ts';
import { forkConfig, readForkOrigin } from './fork-origin.ts';
import { startPool } from './pool.ts';

/** A source with what ends its connections. */
export type OpenFork = { readonly source: ForkSource; close(): Promise<void> };

/** One read of the other network: it may have to prove years of key blocks first. */
const readTimeoutMs = 120_000;

/** How often it is looked whether the first head is proved. */
const readyEveryMs = 50;

/**
 * Opens another network at one of its blocks: everything is read from its lite servers and, when they come from a configuration
 * file, proved down from its trusted blocks.
 * @param spec as `readForkOrigin` reads it
 * @throws StartError, LiteServerError, and what the pool throws when no lite server answers
 */
export async function openFork(
  spec: string,
  dependencies: { readonly version: string; readonly logger: Logger },
): Promise<OpenFork> {
  const origin = readForkOrigin(spec);
  const config = await forkConfig(origin, dependencies);
  // Its figures are not those of the API that is served here.
  const register = new Registry();
  const { pool, signatures } = startPool(config, undefined, {
    ...dependencies,
    register,
    tracer: trace.getTracer('fork'),
  });
  const close = async (): Promise<void> => {
    await pool.close();
    await signatures.close();
  };
  try {
    for (let waitedMs = 0; !pool.ready() && waitedMs < readTimeoutMs; waitedMs += readyEveryMs)
      await sleep(readyEveryMs);
    const { value: pinned } = await pinBlock(pool, origin.seqno, context());
    const header = await createBlockFinder({ pool }).readHeader(pinned.block, context());
    const configuration = await createLiveConfiguration({ pool }).readAll(pinned.block.seqno, context());
    const accounts = createLiveAccounts({ trust: config.trust }, { pool });
    const source: ForkSource = {
      seqno: pinned.block.seqno,
      utime: pinned.utime,
      endLt: header.value.info.endLt,
      config: configuration.value,
      readAccount: async (place) => (await accounts.readShardAccount(place, pinned.block.seqno, context())).value,
    };
    return { source, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function context(): ReadContext {
  const signal = AbortSignal.timeout(readTimeoutMs);
  return { deadlineMs: performance.now() + readTimeoutMs, signal, caller: 'fork' };
}
