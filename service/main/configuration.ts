import {
  canonicalHash,
  configFromGlobalConfig,
  configFromManifest,
  hotConfig,
  hotHashOfManifest,
  redisUrlOfManifest,
  type ProcessSettings,
} from '../config.ts';
import { redisUrlProblem } from '../limits/redis/connection.ts';
import type { Arguments } from './arguments.ts';
import { StartError } from './errors.ts';
import { readNamedFile } from './files.ts';
import type { Loaded } from './hot-reload.ts';

/** What the command line and the environment say besides the network: the same for every role. */
export function processSettings(args: Arguments, environment: NodeJS.ProcessEnv): ProcessSettings {
  return {
    host: args.host,
    port: args.port,
    internalPort: args.internalPort,
    stateDir: args.data,
    keyringFile: args.keyring,
    logLevel: args.logLevel,
    tracingEndpoint: environment['OTEL_EXPORTER_OTLP_ENDPOINT'],
  };
}

/**
 * The configuration of the `api` role, from the files that the command line names, and the URL of its Redis: that of `--redis` or `--redis-file`, else of
 * the environment, else of a Secret in the manifest's own file.
 *
 * @throws StartError for a file that cannot be read, ConfigError for what is wrong in it
 */
export function loadConfiguration(args: Arguments, environment: NodeJS.ProcessEnv): Loaded {
  const settings = processSettings(args, environment);
  const globalConfig =
    args.globalConfig === undefined ? undefined : readNamedFile('--global-config', args.globalConfig);
  const given = givenRedisUrl(args, environment);
  if (args.manifest !== undefined) {
    const text = readNamedFile('--manifest', args.manifest);
    return {
      config: configFromManifest(text, { ...settings, globalConfig }),
      hash: hotHashOfManifest(text),
      redisUrl: given ?? checkedRedisUrl('spec.rateLimits.redis.secretRef', redisUrlOfManifest(text)),
    };
  }
  const config = configFromGlobalConfig(globalConfig ?? '', args.network ?? 'custom', settings);
  return { config, hash: canonicalHash(hotConfig(config)), redisUrl: given };
}

/** The files that `loadConfiguration` reads. */
export function configurationFiles(args: Arguments): string[] {
  return [args.manifest, args.globalConfig, args.redisFile].filter((file) => file !== undefined);
}

function givenRedisUrl(args: Arguments, environment: NodeJS.ProcessEnv): string | undefined {
  if (args.redis !== undefined) return args.redis;
  if (args.redisFile !== undefined) {
    return checkedRedisUrl('--redis-file', readNamedFile('--redis-file', args.redisFile).trim());
  }
  const given = environment['TONPLANE_REDIS_URL'];
  return given === undefined || given === '' ? undefined : checkedRedisUrl('TONPLANE_REDIS_URL', given);
}

/** The URL may hold a password: it is not repeated. */
function checkedRedisUrl(where: string, url: string | undefined): string | undefined {
  const problem = url === undefined ? undefined : redisUrlProblem(url);
  if (problem === undefined) return url;
  throw new StartError({
    code: 'redis_url_invalid',
    message: `${where}: ${problem}`,
    data: { option: where },
    retryable: false,
  });
}
