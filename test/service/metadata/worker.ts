import { randomBytes } from 'node:crypto';

import { pino } from 'pino';
import { Registry } from 'prom-client';

import { createMetadata, type Metadata } from '#service/metadata/metadata.ts';
import type { FetcherOptions } from '#service/metadata/fetch.ts';
import type { Store } from '#service/store/store.ts';
import { fetcherTo, type TokenHost } from './token-host.ts';

export type WorkerUnderTest = Metadata & { readonly register: Registry };

/** Starts one worker of the queue. It treats a host of loopback as a host of the internet. */
export function startWorker(
  store: Store,
  host: Pick<TokenHost, 'port'>,
  options: Partial<FetcherOptions> = {},
): WorkerUnderTest {
  const register = new Registry();
  const { concurrency = 16, concurrencyPerHost = 4 } = options;
  const metadata = createMetadata(
    { concurrency, concurrencyPerHost, idleMs: 20 },
    {
      store,
      fetcher: fetcherTo(host, { concurrency, concurrencyPerHost, ...options }),
      logger: pino({ level: 'silent' }),
      register,
      clock: () => performance.now(),
      newClaim: () => randomBytes(8).readBigUInt64BE() >> 1n,
    },
  );
  return { ...metadata, register };
}
