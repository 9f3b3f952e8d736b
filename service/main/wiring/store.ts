import { isDeepStrictEqual } from 'node:util';

import type { Tracer } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { ServiceConfig } from '#service/config.ts';
import { createStore, type Store, type StoreUrls } from '#service/store/store.ts';
import { StartError } from '../errors.ts';
import type { Loaded } from '../configuration/hot-reload.ts';

/**
 * URLs of the index and of its read replica, with the certificate authorities and the client certificate of both. URLs and the client
 * certificate are secrets.
 */
export type PostgresUrls = Partial<
  Pick<Loaded, 'postgresUrl' | 'postgresReplicaUrl' | 'postgresMissing' | 'postgresCa' | 'postgresClientCertificate'>
>;

/**
 * The index of a configuration, not connected yet.
 *
 * @throws StartError `postgres_missing`
 */
export function openStore(
  { postgres, requestTimeoutMs }: Pick<ServiceConfig, 'postgres' | 'requestTimeoutMs'>,
  { postgresUrl, postgresReplicaUrl, postgresMissing = [], postgresCa, postgresClientCertificate }: PostgresUrls,
  { logger, register, tracer }: { readonly logger: Logger; readonly register: Registry; readonly tracer: Tracer },
): Store {
  if (postgres === null) throw missing('spec.postgres: expected the database of the index, got nothing');
  if (postgresUrl === undefined) {
    const named = '--postgres-url, --postgres-file, TONPLANE_POSTGRES_URL';
    if (postgresMissing.length > 0) {
      const parts = `${postgresMissing.join(', ')} in --postgres-folder or in Secrets in the manifest's file`;
      throw missing(`spec.postgres.parts: expected ${parts}, or ${named}, got none`);
    }
    const secret = postgres.secret === null ? '' : `, or a Secret ${postgres.secret.name} in the manifest's file`;
    throw missing(`expected ${named}${secret}, got none`);
  }
  return createStore(
    {
      url: postgresUrl,
      readUrl: postgresReplicaUrl,
      ca: postgresCa,
      clientCertificate: postgresClientCertificate,
      schema: postgres.schema,
      poolSize: postgres.poolSize,
      replicaMaxLagMs: postgres.replicaMaxLagMs,
      // Callers wait no longer than this for an answer.
      statementTimeoutMs: requestTimeoutMs,
    },
    { logger, register, tracer, clock: () => performance.now() },
  );
}

/** Takes over changed URLs, as after a password was rotated. */
export function takeUrls(store: Pick<Store, 'setUrls'>, next: PostgresUrls, before: PostgresUrls): void {
  const urls = storeUrlsOf(next);
  if (urls === undefined || isDeepStrictEqual(urls, storeUrlsOf(before))) return;
  store.setUrls(urls);
}

function storeUrlsOf(urls: PostgresUrls): StoreUrls | undefined {
  const { postgresUrl: url, postgresReplicaUrl: readUrl, postgresCa: ca } = urls;
  return url === undefined ? undefined : { url, readUrl, ca, clientCertificate: urls.postgresClientCertificate };
}

function missing(message: string): StartError {
  return new StartError({ code: 'postgres_missing', message, data: {}, retryable: false });
}
