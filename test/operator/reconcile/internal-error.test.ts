import { describe, expect, it } from 'vitest';

import { noAnswer } from '#operator/kubernetes/errors.ts';
import { internalErrorOf } from '#operator/reconcile/internal-error.ts';

describe('an unexpected error of a reconcile', () => {
  it('is a refusal that only a person ends, with the words of the error', () => {
    const refusal = internalErrorOf(new TypeError('Invalid URL'), 1);
    expect(refusal).toEqual({ reason: 'InternalError', message: expect.stringContaining('TypeError: Invalid URL') });
  });

  it('is reported at the second failure in a row', () => {
    expect(internalErrorOf(new TypeError('Invalid URL'), 0)).toBeUndefined();
  });

  it('does not quote a text that was not readable, because it may be a secret', () => {
    const error = new SyntaxError(`Unexpected token 's', "secret" is not valid JSON`);
    expect(internalErrorOf(error, 1)?.message).not.toContain('secret');
  });

  it.each<[string, unknown]>([
    ['an answer of the API server, or its absence', noAnswer('GET x', new Error('reset'))],
    ['the end of a reconcile', AbortSignal.abort().reason],
    ['a deadline', new DOMException('The operation timed out', 'TimeoutError')],
    ['an error of the network', Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect' })],
    ['a failed fetch', new TypeError('fetch failed', { cause: new Error('reset') })],
    ['no error', 'text'],
  ])('is not %s', (_, error) => {
    expect(internalErrorOf(error, 9)).toBeUndefined();
  });
});
