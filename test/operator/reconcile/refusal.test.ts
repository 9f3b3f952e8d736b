import { describe, expect, it } from 'vitest';

import { fromStatus, noAnswer } from '#operator/kubernetes/errors.ts';
import { refusalOf } from '#operator/reconcile/refusal.ts';

const answer = (status: number, message: string) => fromStatus('PATCH v1 Service a/b', status, { message }, undefined);

describe('an answer of the API server', () => {
  it.each<[number, string, string, boolean]>([
    [403, 'services "b" is forbidden: exceeded quota: none, requested: services=1', 'QuotaExceeded', false],
    [403, 'services is forbidden: User "x" cannot patch resource "services"', 'Forbidden', false],
    [403, "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no", 'AdmissionDenied', false],
    [422, "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no", 'AdmissionDenied', false],
    [400, 'admission webhook "w" denied the request: no', 'AdmissionDenied', false],
    [500, 'Internal error occurred: failed calling webhook "w": connection refused', 'WebhookUnavailable', true],
    [500, 'failed to create typed patch object (a/b): .spec.x: field not declared in schema', 'InvalidValue', false],
    [500, 'etcdserver: no leader', 'ServerError', true],
    [422, 'Deployment "b" is invalid: spec.replicas: must be at least 0', 'InvalidValue', false],
    [400, 'quantities must match the regular expression', 'InvalidValue', false],
  ])('%d %s is the refusal %s', (status, message, reason, retried) => {
    const refusal = refusalOf(answer(status, message), 1);
    expect(refusal).toEqual({ reason, message: expect.stringContaining(message), ...(retried && { retried: true }) });
  });

  it.each([401, 404, 409, 410, 429])('%d says nothing of the object', (status) => {
    expect(refusalOf(answer(status, 'x'), 9)).toBeUndefined();
  });

  it('is reported at the second failure in a row where the server may mend by itself', () => {
    expect(refusalOf(answer(503, 'starting'), 0)).toBeUndefined();
    expect(refusalOf(answer(503, 'starting'), 1)).toMatchObject({ reason: 'ServerError' });
    expect(refusalOf(answer(403, 'exceeded quota'), 0)).toMatchObject({ reason: 'QuotaExceeded' });
  });

  it('is missing when there is none', () => {
    expect(refusalOf(noAnswer('GET x', new Error('reset')), 9)).toBeUndefined();
    expect(refusalOf(new Error('bug'), 9)).toBeUndefined();
  });
});
