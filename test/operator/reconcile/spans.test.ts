import { SpanStatusCode, type Tracer } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';

import { spanning } from '#operator/reconcile/spans.ts';

/** A tracer of one span; `seen` has what happens to it. */
function traced() {
  const seen: unknown[] = [];
  const span = { setStatus: (status: unknown) => seen.push(status), end: () => seen.push('end') };
  const tracer = {
    startActiveSpan: (_name: string, _options: unknown, work: (given: typeof span) => unknown) => work(span),
  } as unknown as Tracer;
  return { tracer, seen };
}

describe('the span of a part of a reconcile', () => {
  it('a span ends after the work, which gives its result', async () => {
    const { tracer, seen } = traced();
    expect(await spanning(tracer, 'build', async () => 7)).toBe(7);
    expect(seen).toEqual(['end']);
  });

  it.each([
    ['an error', new Error('refused')],
    ['a text', 'refused'],
  ])('a span has the status of %s, which is passed on', async (_what, thrown) => {
    const { tracer, seen } = traced();
    await expect(spanning(tracer, 'build', () => Promise.reject(thrown))).rejects.toBe(thrown);
    expect(seen).toEqual([{ code: SpanStatusCode.ERROR, message: 'refused' }, 'end']);
  });
});
