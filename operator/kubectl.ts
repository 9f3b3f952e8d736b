#!/usr/bin/env node
import { readFileSync } from 'node:fs';

import packageFile from '../package.json' with { type: 'json' };
import { TonplaneError } from '../service/error.ts';
import { OptionsError, usageError } from './errors.ts';
import { parsePluginOptions } from './kubectl/options.ts';

/** Runs `kubectl ton`: kubectl calls the program of this name with the arguments after it. */
async function main(): Promise<void> {
  const options = parsePluginOptions(process.argv.slice(2));
  const { version } = packageFile;
  const manifest = options.file === undefined ? undefined : readManifest(options.file);
  // Help and refused arguments need no client of Kubernetes.
  const { runPlugin } = await import('./kubectl/plugin.ts');
  const { text, problems } = await runPlugin(options, { version, manifest });
  process.stdout.write(text);
  for (const problem of problems) process.stderr.write(`kubectl-ton: ${problem}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

function readManifest(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw usageError(`--filename: ${(error as Error).message}`);
  }
}

/** Errors are one sentence. A bug has a stack trace. */
function fail(error: unknown): void {
  if (error instanceof OptionsError && error.code === 'help') {
    process.stdout.write(error.message);
    return;
  }
  const text = error instanceof TonplaneError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`kubectl-ton: ${text}\n`);
  process.exitCode = error instanceof OptionsError ? 2 : 1;
}

try {
  await main();
} catch (error) {
  fail(error);
}
