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

/** Journey of test/tonutils-go/journey on a network, with wallets of the demonstration; addresses are raw. */
export type TonutilsJourney = {
  readonly config: object;
  readonly globalId: number;
  /** Hex. */
  readonly v5Seed: string;
  readonly v4Seed: string;
  readonly collection: string;
  readonly item: number;
  readonly domain: string;
  readonly receiver: string;
  /** Messages of the highload wallet. */
  readonly messages: number;
};

/** Result of a journey. */
export type TonutilsArrival = {
  readonly v5Wallet: string;
  /** Nanotons of the receiver after the transfer of the wallet v5r1. */
  readonly received: string;
  /** Receivers of the highload wallet that got their money. */
  readonly reached: number;
  /** Raw addresses, before and after. */
  readonly owners: readonly string[];
  /** Raw address of the record `wallet`, and the bag of the new record `site` in hex. */
  readonly records: readonly string[];
};

const folder = resolve(import.meta.dirname, '../../tonutils-go');

const programs = {
  tonutils: { target: '.', source: 'main.go' },
  'tonutils-journey': { target: './journey', source: 'journey/main.go' },
} as const;

/** A program with tonutils-go, built once for a machine; a string says why there is none. */
export async function buildTonutils(
  name: keyof typeof programs = 'tonutils',
): Promise<{ program: string } | { missing: string }> {
  const why = whyNoGo();
  if (why !== undefined) return { missing: why };
  const { target, source } = programs[name];
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', source]) hash.update(readFileSync(join(folder, file)));
  try {
    const key = hash.digest('hex').slice(0, 16);
    return { program: await buildGoProgram({ name, key, folder, target }) };
  } catch (error) {
    return { missing: String(error).split('\n').slice(0, 3).join(' ') };
  }
}

/** @throws Error with what tonutils-go says */
export function askTonutils(program: string, question: TonutilsQuestion): Promise<TonutilsAnswer> {
  return run<TonutilsAnswer>(program, question);
}

/** @throws Error with what tonutils-go says */
export function travelWithTonutils(program: string, journey: TonutilsJourney): Promise<TonutilsArrival> {
  return run<TonutilsArrival>(program, journey);
}

function run<T>(program: string, question: object): Promise<T> {
  const child = spawn(program, [], { stdio: 'pipe' });
  let [answer, complaint] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (answer += text.toString()));
  child.stderr.on('data', (text: Buffer) => (complaint += text.toString()));
  child.stdin.end(JSON.stringify(question));
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => {
      if (code === 0) done(JSON.parse(answer) as T);
      else fail(new Error(`tonutils-go: ${complaint}`));
    });
  });
}
