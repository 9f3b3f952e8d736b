import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TonplaneError } from '#service/error.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { CALLER_GONE_STATUS, errorCodes, failureOf } from '#service/http/error-status.ts';
import { answeredError, LiteServerError } from '#service/liteserver/errors.ts';
import { PoolError } from '#service/pool/errors.ts';
import { ProofError, ProofUnavailableError } from '#service/proof/errors.ts';
import { projectRoot } from '#test/style/sources.ts';
import { scriptAccounts } from '../v2/scripted-accounts.ts';
import { startListener, type Listener } from './listener.ts';
import { call, ways } from './requests.ts';

const networkTimeout = 'LITE_SERVER_NETWORK timeout';
const unavailable = 'no lite server is available';

const own = (code: 'timeout' | 'unreachable' | 'busy' | 'closed' | 'protocol') =>
  new LiteServerError(code, { serverCode: undefined, text: 'x', function: 'getAccountState' });

const rejected =
  'cannot apply external message to current state : External message was not accepted\nCannot run message on account';

/** Statuses and texts of the contract (service/v2/README.md#errors), as errors of the parts that raise them. */
const table: readonly (readonly [what: string, error: unknown, status: number, text: string])[] = [
  ['no lite server is usable', new PoolError('no_lite_server'), 503, unavailable],
  ['no lite server has room', new PoolError('saturated'), 503, 'lite servers are busy, try again later'],
  ['the pool closes', new PoolError('closed'), 503, unavailable],
  ['nobody answered in time', new PoolError('deadline'), 504, networkTimeout],
  ['one lite server was silent', own('timeout'), 504, networkTimeout],
  ['one lite server is away', own('unreachable'), 503, unavailable],
  ['one lite server is full', own('busy'), 503, unavailable],
  ['one lite server was closed', own('closed'), 503, unavailable],
  ['one lite server breaks the protocol', own('protocol'), 500, 'LITE_SERVER_NETWORK protocol error'],
  ['a cell of the service itself has no room', new DecodeError('bad_cell', 'x', {}), 500, 'internal error: bad_cell'],
  ['601', answeredError('getAccountState', 601, 'a'), 500, 'LITE_SERVER_FAILURE: a'],
  ['602', answeredError('getAccountState', 602, 'a'), 500, 'LITE_SERVER_ERROR: a'],
  ['603', answeredError('getAccountState', 603, 'a'), 500, 'LITE_SERVER_WARNING: a'],
  ['621', answeredError('getAccountState', 621, 'a'), 500, 'LITE_SERVER_PROTOVIOLATION: a'],
  ['651', answeredError('lookupBlock', 651, 'seqno not in db'), 500, 'LITE_SERVER_NOTREADY: seqno not in db'],
  ['652', answeredError('lookupBlock', 652, 'timeout'), 504, networkTimeout],
  ['653', answeredError('lookupBlock', 653, 'a'), 500, 'LITE_SERVER_CANCELLED: a'],
  ['-503', answeredError('getAccountState', -503, 'timeout'), 504, networkTimeout],
  ['0', answeredError('sendMessage', 0, rejected), 500, `LITE_SERVER_UNKNOWN: ${rejected}`],
  ['-400', answeredError('getAccountState', -400, 'a'), 500, 'LITE_SERVER_UNKNOWN: a'],
  ['a number nobody knows', answeredError('getAccountState', 7777, 'a'), 500, 'LITE_SERVER_UNKNOWN: a'],
  [
    'an account proof fails everywhere',
    new ProofError('bad_merkle_proof', { subject: 'accountState.proof' }),
    500,
    'VALIDATE_ACCOUNT_STATE: bad_merkle_proof',
  ],
  [
    'a configuration proof fails',
    new ProofError('hash_mismatch', { subject: 'configInfo.configProof' }),
    500,
    'VALIDATE_CONFIG: hash_mismatch',
  ],
  [
    'a transaction proof fails',
    new ProofError('wrong_id', { subject: 'transactionInfo.proof' }),
    500,
    'VALIDATE_TRANSACTION: wrong_id',
  ],
  [
    'a block proof fails',
    new ProofError('bad_signature', { subject: 'blockProof.signatures' }),
    500,
    'VALIDATE_BLOCK_PROOF: bad_signature',
  ],
  ['checks pile up', new ProofUnavailableError('proof_overloaded', 'x'), 503, 'too many checks in flight'],
  ['checks are closed', new ProofUnavailableError('proof_closed', 'x'), 503, unavailable],
  ['a check breaks', new ProofUnavailableError('proof_worker_failed', 'x'), 500, 'internal error: proof_worker_failed'],
  ['cells do not decode', new DecodeError('bad_boc', 'x'), 500, 'internal error: bad_boc'],
  [
    'an error of ours is new',
    new TonplaneError({ code: 'new_one', message: 'secret', data: 1, retryable: false }),
    500,
    'internal error: new_one',
  ],
  ['anything else is thrown', new RangeError('secret detail'), 500, 'internal error'],
  ['a string is thrown', 'secret detail', 500, 'internal error'],
];

/** Rows of the page: status and code. */
function pageRows(): readonly (readonly [code: string, status: number])[] {
  const page = readFileSync(join(projectRoot, 'service/http/README.md'), 'utf8');
  const section = page.slice(page.indexOf('## Refusals'), page.indexOf('## Debug headers'));
  return section.split('\n').flatMap((line) => {
    const [, status = '', , codes = ''] = line.split('|');
    return [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => [code!, Number(status)] as const);
  });
}

function statusOf(code: string): number {
  return failureOf(new TonplaneError({ code, message: 'x', data: {}, retryable: false })).status;
}

it('The page of refusals has every code that a caller may get, with its status', () => {
  const expected = errorCodes.map((code) => [code, statusOf(code)] as const);
  const shown = expected.filter(([, status]) => status !== CALLER_GONE_STATUS);
  expect(new Map(pageRows())).toEqual(new Map(shown));
});

let thrownNow: unknown;
let listener: Listener;

const fail = (): never => {
  throw thrownNow;
};

/** How many lines about unexpected failures the request left that met the error. */
async function unexpectedLines(thrown: unknown): Promise<number> {
  thrownNow = thrown;
  listener.logs.length = 0;
  await call(listener.url, 'GET', 'getMasterchainInfo', {});
  return listener.logs.filter((line) => line['msg'] === 'operation failed').length;
}

describe('the status table', () => {
  beforeAll(async () => {
    listener = await startListener({ accounts: scriptAccounts({ account: fail, info: fail }) });
  });
  afterAll(() => listener.close());

  it.each(table)('when %s', async (_what, thrown, status, text) => {
    thrownNow = thrown;
    for (const way of ways) {
      const reply = await call(listener.url, way, 'getMasterchainInfo', {});
      expect(reply.status).toBe(status);
      expect(reply.body).toMatchObject({ ok: false, error: text, code: status });
      expect(reply.text.startsWith(`{"ok":false,"error":${JSON.stringify(text)},"code":${status},"@extra":"`)).toBe(
        true,
      );
      expect(reply.headers.get('retry-after')).toBe(status === 503 ? '1' : null);
      expect(reply.text).not.toContain('secret');
    }
  });

  it('logs what nobody foresaw, and not what lite servers answer every day', async () => {
    expect(await unexpectedLines(new RangeError('x'))).toBe(1);
    expect(await unexpectedLines(answeredError('lookupBlock', 651, 'seqno not in db'))).toBe(0);
    expect(await unexpectedLines(new PoolError('no_lite_server'))).toBe(0);
  });

  it('gives callers that hung up a status of their own', () => {
    expect(failureOf(new PoolError('aborted')).status).toBe(499);
    expect(failureOf(new ProofUnavailableError('proof_aborted', 'x')).status).toBe(499);
  });

  it('cuts what a lite server says to a bounded length', () => {
    const error = new TonplaneError({
      code: 'server_fault',
      message: '',
      data: { serverCode: 602, text: 'x'.repeat(100_000) },
      retryable: true,
    });
    expect(failureOf(error).text.length).toBeLessThan(8300);
  });
});
