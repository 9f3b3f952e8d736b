import { setTimeout as sleep } from 'node:timers/promises';

import { trace } from '@opentelemetry/api';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';

import { configFromGlobalConfig } from '../config.ts';
import type { ForkSource } from '../devchain/fork.ts';
import type { ReadContext } from '../live/answer.ts';
import { createBlockFinder } from '../live/block-finder.ts';
import { createLiveAccounts } from '../live/live-accounts.ts';
import { createLiveConfiguration } from '../live/live-configuration.ts';
import { pinBlock } from '../live/pinned-block.ts';
import { startPool } from './api.ts';
import { readNamedFile } from './files.ts';
import { StartError } from './errors.ts';

/** A source with what ends its connections. */
export type OpenFork = { readonly source: ForkSource; close(): Promise<void> };

/** One read of the other network: it may have to prove years of key blocks first. */
const readTimeoutMs = 120_000;

/** How often it is looked whether the first head is proved. */
const readyEveryMs = 50;

/**
 * Opens another network at one of its blocks: everything is read from its lite servers and proved, down from the trusted blocks of
 * its configuration file.
 * @param spec `FILE` or `FILE@SEQNO`: a global.config.json; without a seqno the newest block
 * @throws StartError, and what the pool throws when no lite server answers
 */
export async function openFork(
  spec: string,
  dependencies: { readonly version: string; readonly logger: Logger },
): Promise<OpenFork> {
  const { file, seqno } = readSpec(spec);
  const config = configFromGlobalConfig(readNamedFile('--fork', file), 'custom', {});
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
    const { value: pinned } = await pinBlock(pool, seqno, context());
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

function readSpec(spec: string): { readonly file: string; readonly seqno: number | undefined } {
  const [, file, digits] = /^(.+?)(?:@(\d{1,10}))?$/.exec(spec) ?? [];
  const seqno = digits === undefined ? undefined : Number(digits);
  if (file === undefined || (seqno !== undefined && (seqno < 1 || seqno > 0x7fff_ffff))) {
    throw new StartError({
      code: 'file_unreadable',
      message: `--fork: expected FILE or FILE@SEQNO, got ${spec}`,
      data: { option: '--fork' },
      retryable: false,
    });
  }
  return { file, seqno };
}
