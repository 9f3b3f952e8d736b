import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { buildGoProgram, whyNoGo } from '#test/support/go-build.ts';

/** What test/tonutils-go reads of a network. */
export type TonutilsQuestion = {
  readonly config: object;
  /** Raw addresses. */
  readonly accounts: readonly string[];
  readonly wallet: string;
  /** A get-method of the wallet that answers a number. */
  readonly method: string;
  readonly param: number;
};

/** What it found; hashes in hex, amounts in nanotons, `none` for an account that is not there. */
export type TonutilsAnswer = {
  readonly seqno: number;
  readonly rootHash: string;
  readonly balances: Readonly<Record<string, string>>;
  readonly transactions: readonly string[];
  readonly method: string;
  readonly paramHash: string;
};

const folder = resolve(import.meta.dirname, '../../tonutils-go');

/** The program that asks with tonutils-go, built once for a machine; a string says why there is none. */
export async function buildTonutils(): Promise<{ program: string } | { missing: string }> {
  const why = whyNoGo();
  if (why !== undefined) return { missing: why };
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(folder, file)));
  try {
    const key = hash.digest('hex').slice(0, 16);
    return { program: await buildGoProgram({ name: 'tonutils', key, folder, target: '.' }) };
  } catch (error) {
    return { missing: String(error).split('\n').slice(0, 3).join(' ') };
  }
}

/** @throws Error with what tonutils-go says */
export function askTonutils(program: string, question: TonutilsQuestion): Promise<TonutilsAnswer> {
  const child = spawn(program, [], { stdio: 'pipe' });
  let [answer, complaint] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (answer += text.toString()));
  child.stderr.on('data', (text: Buffer) => (complaint += text.toString()));
  child.stdin.end(JSON.stringify(question));
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => {
      if (code === 0) done(JSON.parse(answer) as TonutilsAnswer);
      else fail(new Error(`tonutils-go: ${complaint}`));
    });
  });
}
