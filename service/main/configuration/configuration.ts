import { existsSync } from 'node:fs';
import { join } from 'node:path';

import {
  canonicalHash,
  configFromGlobalConfig,
  configFromManifest,
  hotConfig,
  hotHashOfManifest,
  secretsOfManifest,
  type CaBundle,
  type ProcessSettings,
} from '#service/config.ts';
import { postgresPartNames, type PostgresPartName } from '#service/config/postgres-parts.ts';
import { redisTlsProblem, redisUrlProblem } from '#service/limits/redis/connection.ts';
import { caBundleProblem } from '#service/tls/ca-bundle.ts';
import type { Arguments } from './arguments.ts';
import { StartError } from '../errors.ts';
import { clientCertificateOf } from './client-certificates.ts';
import { readNamedFile } from './named-files.ts';
import { postgresTlsProblem, postgresUrlProblem } from './postgres-url.ts';
import type { Loaded } from './hot-reload.ts';

/** Returns the settings from the command line and the environment except the network. They are the same for every role. */
export function processSettings(args: Arguments, environment: NodeJS.ProcessEnv): ProcessSettings {
  return {
    host: args.host,
    port: args.port,
    internalPort: args.internalPort,
    internalNames: args.internalNames,
    stateDir: args.data,
    keyringFile: args.keyring,
    logLevel: args.logLevel,
    tracingEndpoint: environment['OTEL_EXPORTER_OTLP_ENDPOINT'],
    startSeqno: args.startSeqno,
  };
}

/**
 * Loads the configuration of a role over named lite servers, from the files of the command line. The URLs of Redis and Postgres come from
 * the command line, else the environment. Without both they come from Secrets in the manifest's own file.
 *
 * @throws StartError for a file that cannot be read, ConfigError for an invalid file
 */
export function loadConfiguration(args: Arguments, environment: NodeJS.ProcessEnv): Loaded {
  const settings = processSettings(args, environment);
  const globalConfig =
    args.globalConfig === undefined ? undefined : readNamedFile('--global-config', args.globalConfig);
  const given = givenUrls(args, environment);
  if (args.manifest !== undefined) {
    const text = readNamedFile('--manifest', args.manifest);
    const secrets = secretsOfManifest(text, mountedParts(args));
    const redisUrl = given.redisUrl ?? checked(redisUrlProblem, 'spec.rateLimits.redis.secretRef', secrets.redisUrl);
    const postgresUrl = given.postgresUrl ?? checked(postgresUrlProblem, 'spec.postgres', secrets.postgresUrl);
    // A role that does not connect to a server gets neither its URL nor its certificates.
    const redisCa =
      redisUrl && authoritiesOf('--redis-ca-file', args.redisCaFile, 'spec.rateLimits.redis', secrets.redisCa);
    const postgresCa =
      postgresUrl && authoritiesOf('--postgres-ca-file', args.postgresCaFile, 'spec.postgres', secrets.postgresCa);
    const { redisClientFiles, postgresClientFiles } = args;
    // A migration ends without a trace.
    const tracingCa = args.role === 'migrate' ? undefined : tracingAuthorities(args, secrets.tracingCa);
    const metadataCa = args.role === 'metadata' ? gatewayAuthorities(args, secrets.metadataCa) : undefined;
    return checkedTls({
      config: configFromManifest(text, { ...settings, globalConfig }),
      hash: hotHashOfManifest(text),
      redisUrl,
      postgresUrl,
      postgresReplicaUrl:
        given.postgresReplicaUrl ?? checked(postgresUrlProblem, 'spec.postgres (replica)', secrets.postgresReplicaUrl),
      postgresMissing: secrets.postgresMissing,
      redisCa,
      redisClientCertificate: redisUrl
        ? clientCertificateOf('redis', redisClientFiles, secrets.redisClientCertificate)
        : undefined,
      postgresCa,
      postgresClientCertificate: postgresUrl
        ? clientCertificateOf('postgres', postgresClientFiles, secrets.postgresClientCertificate)
        : undefined,
      tracingCa,
      metadataCa,
    });
  }
  const database = given.postgresUrl !== undefined;
  const config = configFromGlobalConfig(globalConfig ?? '', args.network ?? 'custom', { ...settings, database });
  return checkedTls({ config, hash: canonicalHash(hotConfig(config)), ...given });
}

/** The files that `loadConfiguration` reads. */
export function configurationFiles(args: Arguments): string[] {
  const { manifest, globalConfig, redisFile, redisCaFile, postgresFile, postgresReplicaFile, postgresCaFile } = args;
  const parts = postgresPartNames.flatMap((name) =>
    args.postgresFolder === undefined ? [] : [join(args.postgresFolder, name)],
  );
  const authorities = [redisCaFile, postgresCaFile, args.tracingCaFile, args.metadataCaFile];
  const shown = [args.redisClientFiles, args.postgresClientFiles].flatMap((pair) => [pair?.certificate, pair?.key]);
  const certificates = [...authorities, ...shown];
  const files = [manifest, globalConfig, redisFile, postgresFile, postgresReplicaFile, ...parts, ...certificates];
  return files.filter((file) => file !== undefined);
}

/** Reads the parts of the connection to Postgres in `--postgres-folder`. A part without a file comes from elsewhere. */
function mountedParts({ postgresFolder }: Arguments): (name: PostgresPartName) => string | undefined {
  return (name) => {
    const path = postgresFolder === undefined ? undefined : join(postgresFolder, name);
    return path === undefined || !existsSync(path) ? undefined : readNamedFile('--postgres-folder', path);
  };
}

/** Returns the Postgres from the command line or the environment; undefined for none. */
export function givenPostgresUrl(args: Arguments, environment: NodeJS.ProcessEnv): string | undefined {
  const named = args.postgresUrl ?? fileUrl(postgresUrlProblem, '--postgres-file', args.postgresFile);
  return named ?? variable(postgresUrlProblem, 'TONPLANE_POSTGRES_URL', environment);
}

function givenUrls(args: Arguments, environment: NodeJS.ProcessEnv): Omit<Loaded, 'config' | 'hash'> {
  const redis = args.redis ?? fileUrl(redisUrlProblem, '--redis-file', args.redisFile);
  return {
    redisUrl: redis ?? variable(redisUrlProblem, 'TONPLANE_REDIS_URL', environment),
    redisCa: authoritiesOf('--redis-ca-file', args.redisCaFile, 'spec.rateLimits.redis', undefined),
    redisClientCertificate: clientCertificateOf('redis', args.redisClientFiles, undefined),
    postgresUrl: givenPostgresUrl(args, environment),
    postgresReplicaUrl: fileUrl(postgresUrlProblem, '--postgres-replica-file', args.postgresReplicaFile),
    ...givenPostgresCertificates(args),
    tracingCa: tracingAuthorities(args),
    metadataCa: gatewayAuthorities(args),
  };
}

function gatewayAuthorities(args: Arguments, bundle?: CaBundle): string | undefined {
  return authoritiesOf('--metadata-ca-file', args.metadataCaFile, 'spec.tokenMetadata', bundle);
}

function tracingAuthorities(args: Arguments, bundle?: CaBundle): string | undefined {
  return authoritiesOf('--tracing-ca-file', args.tracingCaFile, 'spec.observability.tracing', bundle);
}

/** Returns the certificate authorities and the client certificate of Postgres from the command line; undefined for none. */
export function givenPostgresCertificates(args: Arguments): Pick<Loaded, 'postgresCa' | 'postgresClientCertificate'> {
  return {
    postgresCa: authoritiesOf('--postgres-ca-file', args.postgresCaFile, 'spec.postgres', undefined),
    postgresClientCertificate: clientCertificateOf('postgres', args.postgresClientFiles, undefined),
  };
}

/**
 * Certificates in PEM: of the named file, else of the source that the manifest names in its own file.
 *
 * @throws StartError for a field whose certificates are nowhere, or a text that is no bundle
 */
function authoritiesOf(
  option: string,
  path: string | undefined,
  owner: string,
  bundle: CaBundle | undefined,
): string | undefined {
  const field = `${owner}.caBundle`;
  if (path !== undefined) return checked(caBundleProblem, `${field} (${option})`, readNamedFile(option, path));
  if (bundle === undefined) return undefined;
  if (bundle.text !== undefined) return checked(caBundleProblem, field, bundle.text);
  throw new StartError({
    code: 'ca_missing',
    message: `${field}: expected ${option}, or ${bundle.source} in the manifest's file, got none`,
    data: { option },
    retryable: false,
  });
}

/** A TLS mode may need the authorities, which have their own source. Certificates need TLS. */
function checkedTls(loaded: Loaded): Loaded {
  const { redisCa, redisClientCertificate, postgresCa, postgresClientCertificate } = loaded;
  const problemOf: UrlProblem = (url) =>
    postgresTlsProblem(url, { ca: postgresCa, clientCertificate: postgresClientCertificate });
  const redisProblemOf: UrlProblem = (url) =>
    redisTlsProblem({ url, ca: redisCa, clientCertificate: redisClientCertificate });
  checked(redisProblemOf, 'spec.rateLimits.redis.secretRef', loaded.redisUrl);
  checked(problemOf, 'spec.postgres', loaded.postgresUrl);
  checked(problemOf, 'spec.postgres (replica)', loaded.postgresReplicaUrl);
  return loaded;
}

type UrlProblem = (url: string) => string | undefined;

function fileUrl(problemOf: UrlProblem, option: string, path: string | undefined): string | undefined {
  return path === undefined ? undefined : checked(problemOf, option, readNamedFile(option, path).trim());
}

function variable(problemOf: UrlProblem, name: string, environment: NodeJS.ProcessEnv): string | undefined {
  const given = environment[name];
  return given === undefined || given === '' ? undefined : checked(problemOf, name, given);
}

/** The URL may have a password, so the error does not repeat it. */
function checked(problemOf: UrlProblem, where: string, url: string | undefined): string | undefined {
  const problem = url === undefined ? undefined : problemOf(url);
  if (problem === undefined) return url;
  throw new StartError({
    code: 'url_invalid',
    message: `${where}: ${problem}`,
    data: { option: where },
    retryable: false,
  });
}
