import { describe, expect, it } from 'vitest';

import type { Resource } from '#operator/kubernetes/resources.ts';
import { createMetricsAccess } from '#operator/metrics-access.ts';

/** An API server that knows the token `good` as a scraper, and what it was asked. */
function createReviews() {
  let nowMs = 0;
  let mayGet = true;
  let isAway = false;
  const asked: { kind: string; spec: object }[] = [];
  const failures: unknown[] = [];
  const review = ({ kind }: Resource, spec: Readonly<Record<string, unknown>>) => {
    asked.push({ kind, spec });
    if (isAway) return Promise.reject(new Error('away'));
    if (kind === 'SubjectAccessReview') return Promise.resolve({ allowed: mayGet });
    const user = { username: 'scraper', uid: '7', groups: ['monitoring'], extra: { pod: ['p'] } };
    return Promise.resolve(spec['token'] === 'good' ? { authenticated: true, user } : {});
  };
  const onFailure = (error: unknown): void => void failures.push(error);
  return {
    asked,
    failures,
    access: createMetricsAccess({ client: { review }, now: () => nowMs, onFailure }),
    pass: (ms: number) => void (nowMs += ms),
    forbid: () => void (mayGet = false),
    leave: () => void (isAway = true),
  };
}

describe('whoever asks for metrics', () => {
  it('is known by his token and must have the right to get them', async () => {
    const { access, asked } = createReviews();
    expect(await access.check('Bearer good')).toBe('allowed');
    expect(asked).toEqual([
      { kind: 'TokenReview', spec: { token: 'good' } },
      {
        kind: 'SubjectAccessReview',
        spec: {
          user: 'scraper',
          uid: '7',
          groups: ['monitoring'],
          extra: { pod: ['p'] },
          nonResourceAttributes: { path: '/metrics', verb: 'get' },
        },
      },
    ]);
    expect(await access.check('Bearer bad')).toBe('unauthenticated');
  });

  it.each([undefined, '', 'good', 'Basic good', 'Bearer ', 'Bearer two words', `Bearer ${'x'.repeat(16_385)}`])(
    'is unknown with %j, and the API server is not asked',
    async (header) => {
      const { access, asked } = createReviews();
      expect(await access.check(header)).toBe('unauthenticated');
      expect(asked).toEqual([]);
    },
  );

  it('is remembered for a minute, and for some seconds when refused', async () => {
    const reviews = createReviews();
    const { access, asked } = reviews;
    await access.check('Bearer good');
    reviews.forbid();
    reviews.pass(59_999);
    expect([await access.check('Bearer good'), asked.length]).toEqual(['allowed', 2]);
    reviews.pass(1);
    expect([await access.check('Bearer good'), asked.length]).toEqual(['forbidden', 4]);
    reviews.pass(4999);
    expect([await access.check('Bearer good'), asked.length]).toEqual(['forbidden', 4]);
    reviews.pass(1);
    await access.check('Bearer good');
    expect(asked).toHaveLength(6);
  });

  it('is told when the API server is away, which is not remembered', async () => {
    const reviews = createReviews();
    reviews.leave();
    expect(await reviews.access.check('Bearer good')).toBe('unknown');
    expect(await reviews.access.check('Bearer good')).toBe('unknown');
    expect([reviews.asked.length, reviews.failures.length]).toEqual([2, 2]);
  });

  it('may not make the API server work without end', async () => {
    const { access, asked } = createReviews();
    await access.check('Bearer good');
    asked.length = 0;
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => access.check(`Bearer bad${at}`)));
    expect(answers.filter((answer) => answer === 'unknown')).toHaveLength(12);
    expect(asked).toHaveLength(8);
    for (let at = 0; at < 100; at++) await access.check(`Bearer other${at}`);
    await access.check('Bearer other99');
    expect(await access.check('Bearer good')).toBe('allowed');
    expect(asked).toHaveLength(108);
    await access.check('Bearer other0');
    expect(asked).toHaveLength(109);
  });
});
