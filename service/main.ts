import { trace } from '@opentelemetry/api';
import { Registry } from 'prom-client';

import packageFile from '../package.json' with { type: 'json' };
import type { ServiceConfig } from './config.ts';
import { tuneBufferPool } from './decode/buffer-pool.ts';
import { TonplaneError } from './error.ts';
import { startApi, type ApiDependencies } from './main/roles/api.ts';
import { ArgumentsError, parseArguments, type Arguments } from './main/configuration/arguments.ts';
import { setGcFlags } from './main/v8-flags.ts';
import { configurationFiles, loadConfiguration, processSettings } from './main/configuration/configuration.ts';
import { runDevCommand } from './main/commands/dev-command.ts';
import { startDev } from './main/roles/dev.ts';
import { makeNamedFolder } from './main/configuration/named-files.ts';
import { startIndexerProcess } from './main/roles/indexer.ts';
import { runKeys } from './main/commands/keys.ts';
import { startMetadataProcess } from './main/roles/metadata.ts';
import { runMigration } from './main/roles/migrate.ts';
import { streamsAlone } from './main/roles/streaming.ts';
import { openStore } from './main/wiring/store.ts';
import { createLogger } from './telemetry/logger.ts';
import { createRegister } from './telemetry/register.ts';
import { terminalLines } from './telemetry/terminal-lines.ts';

/** Reads the command line and runs its role until SIGINT or SIGTERM. A second signal, or one during the start, ends the process at once. */
async function main(): Promise<void> {
  const [role, ...rest] = process.argv.slice(2);
  if (role === 'keys') {
    process.stdout.write(await runKeys(rest, Date.now(), process.env));
    return;
  }
  if (role === 'dev' && rest[0] !== undefined && !rest[0].startsWith('-')) {
    process.stdout.write(await runDevCommand(rest, (line) => void process.stderr.write(line)));
    return;
  }
  const args = parseArguments(process.argv.slice(2));
  if (args.role === 'migrate') {
    await runMigrate(args);
    return;
  }
  setGcFlags();
  tuneBufferPool();
  const signal = stopSignal();
  const { version } = packageFile;
  const register = createRegister({ version, commit: process.env['TONPLANE_COMMIT'] ?? 'unknown' });
  makeNamedFolder('--data', args.data);
  const running = await startRole[args.role](args, { version, register });
  await signal.wait();
  await running.close();
  // Everything is closed. A handle that stays open must not delay the end of the process.
  process.exit();
}

/** Reports its work in plain lines, because people read a Job's log. */
async function runMigrate(args: Arguments): Promise<void> {
  const { config, ...urls } = loadConfiguration(args, process.env);
  const logger = createLogger({ level: 'error', base: { role: 'migrate' } }, process.stderr);
  const store = openStore(config, urls, { logger, register: new Registry(), tracer: trace.getTracer('tonplane') });
  try {
    await runMigration(store, args, (line) => process.stdout.write(`${line}\n`));
  } finally {
    await store.close();
  }
}

/** Signals end the process at once until `wait` is called; then the first resolves it. */
function stopSignal(): { wait(): Promise<void> } {
  let onSignal: () => void = exitAtOnce;
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => onSignal());
  return {
    wait: () =>
      new Promise((done) => {
        onSignal = () => {
          onSignal = exitAtOnce;
          done();
        };
      }),
  };
}

const exitAtOnce = (): never => process.exit(1);

type Shared = Pick<ApiDependencies, 'version' | 'register'>;

const startRole: Record<
  Exclude<Arguments['role'], 'migrate'>,
  (args: Arguments, shared: Shared) => Promise<{ close(): Promise<void> }>
> = {
  dev(args, shared) {
    // The terminal is for the person: only what goes wrong is logged, to standard error.
    const destination = process.stderr.isTTY ? terminalLines(process.stderr) : process.stderr;
    const logger = createLogger({ level: args.logLevel ?? 'warn', base: { role: 'dev' } }, destination);
    return startDev(args, processSettings(args, process.env), { ...shared, logger, output: process.stdout });
  },
  api(args, shared) {
    const { config, options, logger } = prepareRole(args);
    return startApi(config, options, { ...shared, logger });
  },
  streaming(args, shared) {
    const { config, options, logger } = prepareRole(args, streamsAlone);
    return startApi(config, options, { ...shared, logger });
  },
  indexer(args, shared) {
    const { config, options, logger } = prepareRole(args);
    const archiveFolder = args.archive;
    // Standard output has the logs.
    return startIndexerProcess(config, { ...options, archiveFolder }, { ...shared, logger, output: process.stderr });
  },
  metadata(args, shared) {
    const { config, options, logger } = prepareRole(args);
    return startMetadataProcess(config, options, { ...shared, logger });
  },
};

/** Common parts of the roles over a named network: the configuration, its source and its logger. @param partOf returns the part that the role has */
function prepareRole(args: Arguments, partOf: (config: ServiceConfig) => ServiceConfig = (config) => config) {
  const load = () => {
    const loaded = loadConfiguration(args, process.env);
    return { ...loaded, config: partOf(loaded.config) };
  };
  const { config, hash, ...urls } = load();
  const base = { role: args.role, network: config.network, api: config.name };
  const logger = createLogger({ level: config.observability.logLevel, base });
  return { config, options: { ...urls, configHash: hash, source: { files: configurationFiles(args), load } }, logger };
}

/** Reports a mistake of a person in a sentence, and a bug with its stack. */
function fail(error: unknown): void {
  if (error instanceof ArgumentsError && error.code === 'help') {
    process.stdout.write(error.message);
    return;
  }
  const text = error instanceof TonplaneError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`tonplane: ${text}\n`);
  process.exitCode = error instanceof ArgumentsError ? 2 : 1;
}

try {
  await main();
} catch (error) {
  fail(error);
}
