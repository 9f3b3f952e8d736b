import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { limitsBudget } from './limits-budget.ts';
import type { Mutant, MutantList } from './mutant.ts';
import { operatorDiff } from './operator-diff.ts';
import { proof } from './proof.ts';
import { storeOrder } from './store-order.ts';

// `npm run test:mutants -- FOLDER`: makes one line of the source wrong at a time and lists the wrong lines that no test finds.

const lists: Readonly<Record<string, MutantList>> = {
  proof,
  'limits/budget': limitsBudget,
  'operator/diff': operatorDiff,
  'store/queries/order': storeOrder,
};

const root = resolve(import.meta.dirname, '../..');

/** Parts of the project that tests read. */
const parts = ['charts', 'crds', 'operator', 'service', 'test', 'package.json', 'tsconfig.json', 'vitest.config.ts'];

/** Copies the project, so that the wrong lines never stand in the working tree. */
function copyProject(): string {
  const copy = mkdtempSync(join(tmpdir(), 'tonplane-mutants-'));
  for (const part of parts) cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Returns true when all tests pass. */
function pass(copy: string, tests: readonly string[]): boolean {
  const args = [join(copy, 'node_modules/vitest/vitest.mjs'), 'run', '--bail', '1', ...tests];
  return spawnSync(process.execPath, args, { cwd: copy, stdio: 'ignore' }).status === 0;
}

/** Returns true when no test finds the wrong line. */
function survives(copy: string, { path, from, to }: Mutant, tests: readonly string[]): boolean {
  const file = join(copy, path);
  const text = readFileSync(file, 'utf8');
  if (text.split(from).length !== 2) throw new Error(`${path}: expected once: ${from}`);
  writeFileSync(
    file,
    text.replace(from, () => to),
  );
  try {
    return pass(copy, tests);
  } finally {
    writeFileSync(file, text);
  }
}

/** Exits with 1 when a mutant survives or the tests fail without mutants. */
function main([folder = '']: readonly string[]): void {
  const list = lists[folder];
  if (list === undefined) {
    process.stderr.write(`npm run test:mutants -- FOLDER, which is one of ${Object.keys(lists).join(', ')}\n`);
    process.exitCode = folder === '--help' ? 0 : 1;
    return;
  }
  const copy = copyProject();
  try {
    if (!pass(copy, list.tests)) throw new Error('the tests fail without a mutant');
    const survivors = list.mutants.filter((mutant) => {
      const isAlive = survives(copy, mutant, list.tests);
      process.stdout.write(`${isAlive ? 'SURVIVES' : 'found'} ${mutant.path}: ${JSON.stringify(mutant.from)}\n`);
      return isAlive;
    });
    process.stdout.write(`${list.mutants.length} mutants, ${survivors.length} survive\n`);
    process.exitCode = Math.min(1, survivors.length);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

main(process.argv.slice(2));
