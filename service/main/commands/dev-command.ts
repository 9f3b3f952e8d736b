import { readFileSync, statSync, writeFileSync } from 'node:fs';

import { parseCommandLine } from '#service/config/command-line.ts';
import { formatFriendlyAddress, parseAddress } from '#service/decode/address.ts';
import type { MethodName, MethodParameter, MethodRow } from '#service/devchain/dev/method-table.ts';
import { isMethodName, methodRows } from '#service/devchain/dev/method-table.ts';
import { ArgumentsError } from '../configuration/arguments.ts';
import { StartError, systemCode } from '../errors.ts';
import { explorerPaths } from './explorer-links.ts';

/** Default address of a network's internal listener. */
const DEFAULT_URL = 'http://127.0.0.1:8082';

/** A thousand blocks take some ten seconds. A busy machine takes longer. */
const TIMEOUT_MS = 120_000;

/** A body of the internal listener takes 8 MiB, and base64 four bytes for three. */
const DUMP_FILE_BYTES_MAX = 6 * 1_048_576 - 4096;

/** Usage of every command, read off the table of methods. */
function devUsage(): string {
  const lines = Object.entries(methodRows).map(
    ([name, row]) => `  ${[shortName(name), ...valueNames(row)].join(' ')}\n      ${row.about}\n`,
  );
  return `usage: npm start -- dev NAME [VALUE...] [--FIELD VALUE...] [--internal-url URL]

Calls a method of a running private network. Give values in order, or after the name of their field.
  --internal-url URL    URL of the network's internal listener, default ${DEFAULT_URL}

${lines.join('')}`;
}

function shortName(name: string): string {
  return name.replace(/^dev_/, '');
}

function valueNames({ parameters, givesDump }: MethodRow): string[] {
  const names = parameters.map(({ name, kind, isOptional }) => {
    const shown = kind === 'dump' ? 'FILE' : name;
    return isOptional === true ? `[${shown}]` : shown;
  });
  return givesDump === true ? [...names, 'FILE'] : names;
}

/**
 * Runs `dev NAME …` against a network that runs.
 * @param args everything behind `dev`
 * @param note writes lines for a person: links to the explorer, which are no part of the JSON for scripts
 * @returns text to print
 * @throws ArgumentsError, StartError `network_unreachable`, `dev_refused`, `file_unreadable`
 */
export async function runDevCommand(args: readonly string[], note?: (line: string) => void): Promise<string> {
  const [given = '', ...rest] = args;
  if (given === 'help') throw usageError('help', devUsage());
  const name = isMethodName(given) ? given : `dev_${given}`;
  if (!isMethodName(name)) {
    throw usageError('usage', `dev: expected ${Object.keys(methodRows).map(shortName).join(', ')}, got ${given}`);
  }
  const { params, file, url } = readCall(name, rest);
  const result = await call(url, name, params);
  if (note !== undefined && (await hasExplorer(url))) {
    explorerPaths(methodRows[name].parameters, params, result).forEach((path) => note(`${new URL(path, url).href}\n`));
  }
  if (file === undefined) return `${JSON.stringify(result, undefined, 2)}\n`;
  const { dump, ...facts } = result as { readonly dump: string };
  writeDumpFile(file, Buffer.from(dump, 'base64'));
  return `${JSON.stringify({ ...facts, file }, undefined, 2)}\n`;
}

type Call = {
  readonly params: Readonly<Record<string, unknown>>;
  readonly file: string | undefined;
  readonly url: string;
};

function readCall(name: MethodName, args: readonly string[]): Call {
  const { parameters, givesDump } = methodRows[name];
  const { values, positionals } = parseStrictly(name, args);
  if (values['help'] === true) throw usageError('help', devUsage());
  const names = [...parameters.map((parameter) => parameter.name), ...(givesDump === true ? ['FILE'] : [])];
  if (positionals.length > names.length) {
    throw usageError(
      'usage',
      `dev ${shortName(name)}: expected ${valueNames(methodRows[name]).join(' ') || 'no value'}`,
    );
  }
  const texts: Record<string, unknown> = { ...values };
  positionals.forEach((text, index) => (texts[names[index]!] = text));
  const file = givesDump === true ? texts['FILE'] : undefined;
  if (givesDump === true && typeof file !== 'string') {
    throw usageError('usage', `dev ${shortName(name)}: expected ${valueNames(methodRows[name]).join(' ')}`);
  }
  const given = texts['internal-url'];
  const url = typeof given === 'string' ? given : DEFAULT_URL;
  if (!URL.canParse(url)) {
    throw usageError('usage', `--internal-url: expected a URL such as ${DEFAULT_URL}, got ${url}`);
  }
  const named = parameters.flatMap((parameter) => {
    const text = texts[parameter.name];
    return typeof text === 'string' ? [[parameter.name, valueOf(parameter, text)] as const] : [];
  });
  return { params: Object.fromEntries(named), file: file as string | undefined, url };
}

/**
 * Converts a text to the JSON form of the parameter's kind. An unsuitable text stays text, and the network refuses it with the field's
 * name.
 */
function valueOf({ kind }: MethodParameter, text: string): unknown {
  if ((kind === 'integer' || kind === 'snapshot') && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return kind === 'dump' ? readDumpFile('dev load', text, DUMP_FILE_BYTES_MAX).toString('base64') : text;
}

function parseStrictly(name: MethodName, args: readonly string[]) {
  const fields = methodRows[name].parameters.map((parameter) => [parameter.name, { type: 'string' }] as const);
  return parseCommandLine(
    {
      // An address of the masterchain begins with a minus: its other form is no option.
      args: args.map((text) => (/^-\d+:/.test(text) ? friendly(text) : text)),
      options: {
        ...Object.fromEntries(fields),
        'internal-url': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
      strict: true,
    },
    (message) => usageError('usage', message),
  );
}

function friendly(text: string): string {
  const address = parseAddress(text);
  return address === undefined ? text : formatFriendlyAddress(address);
}

async function call(url: string, method: MethodName, params: object): Promise<unknown> {
  let answer: { readonly result?: unknown; readonly error?: { readonly message: string } | string };
  try {
    const response = await fetch(new URL('/dev', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    answer = (await response.json()) as typeof answer;
  } catch (cause) {
    throw failed(
      'network_unreachable',
      `--internal-url: expected a running private network at ${url}, got no answer`,
      cause,
    );
  }
  if (answer.result !== undefined) return answer.result;
  const { error } = answer;
  throw failed(
    'dev_refused',
    (typeof error === 'string' ? error : error?.message) ?? 'expected a JSON-RPC answer, got something else',
  );
}

/** A network without an index has no explorer. */
async function hasExplorer(url: string): Promise<boolean> {
  try {
    const { ok } = await fetch(new URL('/explorer/settings.json', url), { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return ok;
  } catch {
    return false;
  }
}

/**
 * A dump from a file.
 * @param option named in errors
 * @throws StartError `file_unreadable`
 */
export function readDumpFile(option: string, path: string, bytesMax: number): Buffer {
  try {
    const { size } = statSync(path);
    if (size > bytesMax) throw failed('file_unreadable', `${option}: expected at most ${bytesMax} bytes in ${path}`);
    return readFileSync(path);
  } catch (cause) {
    if (cause instanceof StartError) throw cause;
    throw failed('file_unreadable', `${option}: expected a readable file, got ${systemCode(cause)} for ${path}`, cause);
  }
}

/** @throws StartError `file_unreadable` */
export function writeDumpFile(path: string, bytes: Buffer): void {
  try {
    writeFileSync(path, bytes);
  } catch (cause) {
    throw failed(
      'file_unreadable',
      `dump: expected a file that can be written, got ${systemCode(cause)} for ${path}`,
      cause,
    );
  }
}

function usageError(code: 'usage' | 'help', message: string): ArgumentsError {
  return new ArgumentsError({ code, message, data: {}, retryable: false });
}

function failed(
  code: 'network_unreachable' | 'dev_refused' | 'file_unreadable',
  message: string,
  cause?: unknown,
): StartError {
  return new StartError({ code, message, data: {}, retryable: code === 'network_unreachable', cause });
}
