import { readFileSync } from 'node:fs';

import packageFile from '../package.json' with { type: 'json' };
import { TonplaneError } from '../service/error.ts';
import { createLogger } from '../service/telemetry/logger.ts';
import { createRegister } from '../service/telemetry/register.ts';
import { OptionsError, usageError } from './errors.ts';
import { startOperator } from './operator.ts';
import { parseOptions, type OperatorOptions } from './options.ts';
import { dryRunAll } from './dry-run.ts';
import type { PlannedTexts } from './planned-texts.ts';
import { fetchFromPod } from './pod-fetch.ts';
import { uninstall } from './uninstall.ts';

/**
 * Reads the command line and runs the operator until SIGINT or SIGTERM. A second signal, or a signal during the start, ends the process at
 * once.
 */
async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2), process.env);
  const { version } = packageFile;
  const commit = process.env['TONPLANE_COMMIT'] ?? 'unknown';
  if (options.command === 'plan') {
    const { text, problems } = await planned(options, { version, commit });
    process.stdout.write(text);
    for (const problem of problems) process.stderr.write(`ton-operator: ${problem}\n`);
    process.exit(problems.length === 0 ? 0 : 1);
  }
  if (options.command === 'uninstall') {
    process.stdout.write(await uninstall(options, { register: createRegister({ version, commit }) }));
    process.exit();
  }
  const stopped = stopSignal();
  const logger = createLogger({ level: options.logLevel, base: { role: 'operator' } });
  const operator = await startOperator(options, {
    version,
    commit,
    logger,
    register: createRegister({ version, commit }),
  });
  stopped.listen();
  const reason = await Promise.race([stopped.promise, operator.lost]);
  if (reason !== 'signal') process.exit(1);
  await operator.close();
  process.exit();
}

/** Returns the plans of all TonApis. Log lines go to standard error. */
function planned(
  options: OperatorOptions,
  { version, commit }: { readonly version: string; readonly commit: string },
): Promise<PlannedTexts> {
  const logger = createLogger({ level: 'warn', base: { role: 'plan' } }, process.stderr);
  const manifest = options.file === undefined ? undefined : readManifest(options.file);
  const register = createRegister({ version, commit });
  return dryRunAll(options, { version, logger, register, fetchPage: fetchFromPod, manifest });
}

function readManifest(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usageError(`--file: ${(error as Error).message}`);
  }
}

/** Signals end the process at once until `listen` is called; then the first resolves the promise. */
function stopSignal(): { readonly promise: Promise<'signal'>; listen(): void } {
  const { promise, resolve } = Promise.withResolvers<'signal'>();
  let onSignal: () => void = exitAtOnce;
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => onSignal());
  return {
    promise,
    listen() {
      onSignal = () => {
        onSignal = exitAtOnce;
        resolve('signal');
      };
    },
  };
}

const exitAtOnce = (): never => process.exit(1);

/** Usage errors print one sentence; internal errors print a stack trace. */
function fail(error: unknown): void {
  if (error instanceof OptionsError && error.code === 'help') {
    process.stdout.write(error.message);
    return;
  }
  const text = error instanceof TonplaneError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`ton-operator: ${text}\n`);
  process.exit(error instanceof OptionsError ? 2 : 1);
}

try {
  await main();
} catch (error) {
  fail(error);
}
