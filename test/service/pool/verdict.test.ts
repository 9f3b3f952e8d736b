import { describe, expect, test } from 'vitest';

import { DecodeError } from '#service/decode/errors.ts';
import { LiteServerError } from '#service/liteserver/errors.ts';
import type { LiteServerErrorCode } from '#service/liteserver/errors.ts';
import { TlError } from '#service/liteserver/tl/errors.ts';
import { PoolError } from '#service/pool/errors.ts';
import { judge, mostInformativeError } from '#service/pool/verdict.ts';
import { ProofError, ProofUnavailableError } from '#service/proof/errors.ts';

function said(code: LiteServerErrorCode, serverCode?: number): LiteServerError {
  return new LiteServerError(code, { serverCode, text: code, function: 'getAccountState' });
}

const lie = new ProofError('hash_mismatch', { subject: 'accountState.proof' });

describe('judgement of an error', () => {
  test.each<[LiteServerErrorCode, 'works' | 'failed' | 'nothing', boolean]>([
    ['client', 'works', true],
    ['rejected', 'works', true],
    ['duplicate', 'works', true],
    ['pruned', 'works', false],
    ['lagging', 'works', false],
    ['unsupported', 'works', false],
    ['timeout', 'failed', false],
    ['overloaded', 'failed', false],
    ['server_fault', 'failed', false],
    ['protocol', 'failed', false],
    ['unreachable', 'failed', false],
    ['closed', 'failed', false],
    ['busy', 'nothing', false],
    ['aborted', 'nothing', false],
  ])('the error %s is judged: the lite server %s, final: %s', (code, health, final) => {
    expect(judge(said(code))).toMatchObject({ outcome: code, health, final });
  });

  test('a wait that ended without the block is no failure', () => {
    expect(judge(said('timeout', 652)).health).toBe('works');
  });

  test('a failed proof is misbehaviour and never the last word', () => {
    expect(judge(lie)).toMatchObject({ outcome: 'misbehaving', health: 'misbehaved', final: false });
  });

  test('an answer that cannot be read as TL is a failure', () => {
    const cut = new TlError('tl_truncated', 'cut', { what: 'int', offset: 0 });
    expect(judge(cut)).toMatchObject({ outcome: 'protocol', health: 'failed', final: false });
  });

  test('a check that could not run does not affect the lite server, and another one is tried', () => {
    for (const error of [
      new ProofUnavailableError('proof_overloaded', 'full'),
      new DecodeError('cell_underflow', 'cut'),
      new PoolError('deadline'),
    ]) {
      expect(judge(error)).toMatchObject({ outcome: 'unchecked', health: 'nothing', final: false });
    }
  });

  test('a fault of the service ends the read', () => {
    expect(judge(new TypeError('bug'))).toMatchObject({ health: 'nothing', final: true });
  });
});

describe('the most informative error', () => {
  test.each<[string, unknown[], string]>([
    ['an empty pool', [], 'no_lite_server'],
    ['unreachable servers', [said('unreachable'), said('closed'), said('busy')], 'no_lite_server'],
    ['silence', [said('unreachable'), said('timeout')], 'deadline'],
    ["the lite server's own time limit", [said('overloaded', -503)], 'deadline'],
    ['too many requests', [said('overloaded', 429), said('timeout')], 'overloaded'],
    ['lies', [said('timeout'), lie, said('unreachable')], 'hash_mismatch'],
    ['missing data', [said('timeout'), lie, said('pruned', 651)], 'pruned'],
    ['a wrong argument', [said('pruned', 651), said('client', -400)], 'client'],
  ])('the most informative error is chosen: %s', (_name, errors, code) => {
    expect(mostInformativeError(errors)).toMatchObject({ code });
  });
});
