import { describe, expect, it } from 'vitest';

import { createTraceRule, type EndedSpan } from '#operator/trace-rule.ts';

const span = (name: string, method?: string, more: Partial<EndedSpan> = {}): EndedSpan => ({
  name,
  status: { code: 0 },
  duration: [0, 5e6],
  attributes: method === undefined ? {} : { 'http.request.method': method },
  ...more,
});
const look = (...inner: EndedSpan[]): EndedSpan[] => [...inner, span('reconcile TonApi')];

describe('the rule for traces', () => {
  const never = createTraceRule(() => 0.999);
  it.each([
    ['a look that wrote', look(span('PATCH apps/v1 Deployment', 'PATCH')), true],
    ['a look that read only', look(span('GET v1 ConfigMap', 'GET')), false],
    ['a look with a failed request', look(span('GET v1 ConfigMap', 'GET', { status: { code: 2 } })), true],
    ['a look of more than a second', [span('reconcile TonApi', undefined, { duration: [1, 2] })], true],
    ['a renewal of the Lease', [span('PUT coordination.k8s.io/v1 Lease', 'PUT')], false],
    ['a watch that failed', [span('WATCH v1 Pod', 'GET', { status: { code: 2 } })], true],
    ['nothing', [], false],
  ])('keeps %s or not', (_what, spans, kept) => {
    expect(never(spans)).toBe(kept);
  });

  it('keeps one in a hundred of looks that found nothing to do', () => {
    let at = 0;
    const rule = createTraceRule(() => (at++ % 1000) / 1000);
    const kept = Array.from({ length: 1000 }, () => rule(look())).filter(Boolean);
    expect(kept).toHaveLength(10);
  });
});
