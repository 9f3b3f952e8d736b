import {
  configFromGlobalConfig,
  configFromManifest,
  redisUrlOfManifest,
  type ProcessSettings,
  type ServiceConfig,
} from '../config.ts';
import type { Arguments } from './arguments.ts';
import { readNamedFile } from './files.ts';

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
 * The configuration of the `api` role, from the manifest or the global config that the command line names.
 * @throws StartError for a file that cannot be read, ConfigError for what is wrong in it
 */
export function loadConfiguration(args: Arguments, environment: NodeJS.ProcessEnv): ServiceConfig {
  const settings = processSettings(args, environment);
  const globalConfig =
    args.globalConfig === undefined ? undefined : readNamedFile('--global-config', args.globalConfig);
  if (args.manifest !== undefined) {
    return configFromManifest(readNamedFile('--manifest', args.manifest), { ...settings, globalConfig });
  }
  return configFromGlobalConfig(globalConfig ?? '', args.network ?? 'custom', settings);
}

/**
 * URL of the Redis that limits are shared in: of the command line, else the environment, else a Secret in the manifest's own file. Undefined when none
 * is given. A secret, and so no part of the configuration.
 */
export function redisUrl(args: Arguments, environment: NodeJS.ProcessEnv): string | undefined {
  const given = args.redis ?? environment['TONPLANE_REDIS_URL'];
  if (given !== undefined && given !== '') return given;
  return args.manifest === undefined ? undefined : redisUrlOfManifest(readNamedFile('--manifest', args.manifest));
}
