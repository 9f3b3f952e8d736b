import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { StartError } from '../errors.ts';
import { ArgumentsError } from '../configuration/arguments.ts';
import { keyFileName } from '../configuration/dev-key.ts';

export const fundUsage = `usage: npm start -- dev fund ADDRESS AMOUNT [options]

Sends AMOUNT TON (such as 5 or 0.25) from the faucet of a private network that runs, and waits until the transfer is in a block.
  --api URL             of the network's API, default http://127.0.0.1:8081
  --data DIR            the network's folder: its key is used, default .tonplane
`;

/** A block takes at most 5 s. The rest is for a busy machine. */
const TIMEOUT_MS = 60_000;

/**
 * Runs `dev fund`.
 * @param args what stands behind `dev fund`
 * @returns what to print
 * @throws ArgumentsError, StartError `network_unreachable` or `fund_refused`
 */
export async function runFund(args: readonly string[]): Promise<string> {
  const { address, amount, api, data } = readArguments(args);
  const url = new URL('/faucet', api);
  const key = readKey(data);
  let answer: { ok?: boolean; code?: number; error?: string; result?: { message_hash: string; seqno: number } };
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key !== undefined && { 'x-api-key': key }) },
      body: JSON.stringify({ address, amount }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    answer = (await response.json()) as typeof answer;
  } catch (cause) {
    throw failed('network_unreachable', `--api: expected a private network that runs at ${api}`, cause);
  }
  if (answer.code === 401 && key !== undefined) {
    throw failed(
      'fund_refused',
      `--data: expected the folder of the network at ${api}, got ${data}, whose key is another's`,
    );
  }
  if (answer.result === undefined) throw failed('fund_refused', answer.error ?? 'the answer is not understood');
  return `${amount} TON sent to ${address} in block ${answer.result.seqno}, message ${answer.result.message_hash}\n`;
}

function readArguments(args: readonly string[]) {
  const { values, positionals } = parseStrictly(args);
  if (values.help === true) throw usageError('help', fundUsage);
  const [address, amount, ...rest] = positionals;
  if (address === undefined || amount === undefined || rest.length > 0) {
    throw usageError('usage', `dev fund: expected ADDRESS AMOUNT, got ${positionals.join(' ') || 'nothing'}`);
  }
  const { api = 'http://127.0.0.1:8081', data = '.tonplane' } = values;
  if (!URL.canParse(api)) throw usageError('usage', `--api: expected a URL such as http://127.0.0.1:8081, got ${api}`);
  return { address, amount, api, data };
}

function parseStrictly(args: readonly string[]) {
  // An address of the masterchain begins with a minus, and is no option.
  const masterchain = args.filter((text) => /^-\d+:/.test(text));
  try {
    const parsed = parseArgs({
      args: args.filter((text) => !masterchain.includes(text)),
      options: { api: { type: 'string' }, data: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
      strict: true,
    });
    return { values: parsed.values, positionals: [...masterchain, ...parsed.positionals] };
  } catch (cause) {
    throw usageError('usage', cause instanceof Error ? cause.message : 'unreadable arguments');
  }
}

/**
 * Returns the key of the running network when its folder is here. With the key, the faucet's limit of one request a second does not apply.
 */
function readKey(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, keyFileName), 'utf8').trim();
  } catch {
    return undefined;
  }
}

function usageError(code: 'usage' | 'help', message: string): ArgumentsError {
  return new ArgumentsError({ code, message, data: {}, retryable: false });
}

function failed(code: 'network_unreachable' | 'fund_refused', message: string, cause?: unknown): StartError {
  return new StartError({ code, message, data: {}, retryable: true, cause });
}
