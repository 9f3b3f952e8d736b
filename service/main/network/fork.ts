import { setTimeout as sleep } from 'node:timers/promises';

import { trace } from '@opentelemetry/api';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';

import { sameBlock } from '#service/decode/block-id.ts';
import type { AccountPlace } from '#service/devchain/collator/missing-account.ts';
import type { ForkPoint, ForkSource } from '#service/devchain/fork/fork.ts';
import type { ReadContext } from '#service/contract/answer.ts';
import { createBlockFinder } from '#service/live/blocks/block-finder.ts';
import { createLiveAccounts } from '#service/live/accounts/live-accounts.ts';
import { createLiveConfiguration } from '#service/live/configuration/live-configuration.ts';
import type { PinnedBlock } from '#service/live/pinned-block.ts';
import { pinBlock } from '#service/live/pinned-block.ts';
import { readPublicLibrary } from '#service/live/configuration/public-libraries.ts';
import { PoolError } from '#service/pool/errors.ts';
import { forkConfig, otherFork, readForkOrigin } from './fork-origin.ts';
import { startPool } from '../wiring/pool.ts';

/** A source with what ends its connections. */
export type OpenFork = { readonly source: ForkSource; close(): Promise<void> };

/** The beginning of a fork: years of key blocks may have to be proved first. */
const BEGINNING_TIMEOUT_MS = 120_000;

/** Time for one account or library. An available lite server answers in a second. A caller must not wait long for an unavailable server. */
const ACCOUNT_TIMEOUT_MS = 5000;
const ACCOUNT_READY_MS = 1000;

/** Milliseconds between checks whether the first head is proved. */
const READY_EVERY_MS = 50;

/**
 * Opens another network at one of its blocks. Everything is read from its lite servers. With a configuration file, everything is also
 * proved from its trusted blocks. `stored` is the origin of the network in the folder. With it no server has to answer before an account is
 * read.
 * @param spec the result of `readForkOrigin`
 * @throws StartError, LiteServerError, and the errors of the pool when no lite server answers
 */
export async function openFork(
  spec: string,
  stored: ForkPoint | undefined,
  dependencies: { readonly version: string; readonly logger: Logger },
): Promise<OpenFork> {
  const origin = readForkOrigin(spec);
  const config = await forkConfig(origin, stored, dependencies);
  // The pool's metrics are not metrics of the API that is served here.
  const register = new Registry();
  const { pool, signatures } = startPool(
    config,
    {},
    {
      ...dependencies,
      register,
      tracer: trace.getTracer('fork'),
    },
  );
  const close = async (): Promise<void> => {
    await pool.close();
    await signatures.close();
  };
  const accounts = createLiveAccounts({ trust: config.trust }, { pool });

  async function pin(seqno: number | undefined, readyMs: number, timeoutMs: number): Promise<PinnedBlock> {
    for (let waitedMs = 0; !pool.ready() && waitedMs < readyMs; waitedMs += READY_EVERY_MS) await sleep(READY_EVERY_MS);
    if (!pool.ready()) throw new PoolError('no_lite_server');
    return (await pinBlock(pool, seqno, context(timeoutMs))).value;
  }

  /** The block that the fork began at, as the lite servers have it. */
  async function pinBeginning({ block }: ForkPoint): Promise<PinnedBlock> {
    const pinned = await pin(block.seqno, ACCOUNT_READY_MS, ACCOUNT_TIMEOUT_MS);
    if (sameBlock(pinned.block, block)) return pinned;
    throw otherFork(`block ${block.seqno} of the one given is not the one it began at`);
  }

  async function readAccount(point: ForkPoint, place: AccountPlace): Promise<Buffer> {
    const { block } = await pinBeginning(point);
    return (await accounts.readShardAccount(place, block.seqno, context(ACCOUNT_TIMEOUT_MS))).value;
  }

  async function readLibrary(point: ForkPoint, hash: Buffer): Promise<Buffer | undefined> {
    return (await readPublicLibrary(pool, await pinBeginning(point), hash, context(ACCOUNT_TIMEOUT_MS))).value;
  }

  try {
    const point = stored ?? {
      zeroState: config.anchors.zeroState,
      block: (await pin(origin.seqno, BEGINNING_TIMEOUT_MS, BEGINNING_TIMEOUT_MS)).block,
    };
    const { seqno } = point.block;
    const source: ForkSource = {
      ...point,
      async readBeginning() {
        const header = await createBlockFinder({ pool }).readHeader(point.block, context(BEGINNING_TIMEOUT_MS));
        const configuration = await createLiveConfiguration({ pool }).readAll(seqno, context(BEGINNING_TIMEOUT_MS));
        const { utime, endLt } = header.value.info;
        return { utime, endLt, config: configuration.value };
      },
      readAccount: (place) => readAccount(point, place),
      readLibrary: (hash) => readLibrary(point, hash),
    };
    return { source, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function context(timeoutMs: number): ReadContext {
  const signal = AbortSignal.timeout(timeoutMs);
  return { deadlineMs: performance.now() + timeoutMs, signal, caller: 'fork' };
}
