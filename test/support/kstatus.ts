import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { buildGoProgram, programPath, whyNoGo, type GoProgram } from './go-build.ts';
import { skipLoudly } from './skips.ts';

/** Health of an object by kstatus' own library, and by a script that Argo CD would run; `argo` is empty without one. */
export type Verdict = {
  readonly kstatus: 'Current' | 'InProgress' | 'Failed' | 'Terminating' | 'NotFound' | 'Unknown';
  readonly message: string;
  readonly argo: string;
};

const folder = resolve(import.meta.dirname, '../kstatus');

function kstatusProgram(): GoProgram {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(folder, file)));
  return { name: 'kstatus', key: hash.digest('hex').slice(0, 16), folder, target: '.' };
}

/** Builds the program when the cache has none and Go is there; false when it is not to be had. */
export async function prepareKstatus(): Promise<boolean> {
  const program = kstatusProgram();
  if (!existsSync(programPath(program)) && whyNoGo() !== undefined) return false;
  await buildGoProgram(program);
  return true;
}

/** For `skipIf`: true, after saying so loudly, where the program is missing. */
export function withoutKstatus(what: string): boolean {
  const missing = !existsSync(programPath(kstatusProgram()));
  return skipLoudly(missing, { what, why: `no kstatus: ${whyNoGo() ?? 'it is not built yet'}` });
}

/** Verdicts on objects, in their order. */
export function kstatusOf(objects: readonly object[], health = ''): readonly Verdict[] {
  const input = JSON.stringify({ objects, health });
  return JSON.parse(execFileSync(programPath(kstatusProgram()), { input, encoding: 'utf8' })) as Verdict[];
}
