import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  bucketFullAt,
  fullBucket,
  fullInUs,
  take,
  tokensLeft,
  type Bucket,
  type BucketRate,
} from '#service/limits/bucket.ts';

/** Reference model in unbounded integers. It counts the missing millionths of a token. */
function referenceModel(rate: BucketRate, startUs: number) {
  let deficit = 0n;
  let atUs = BigInt(startUs);
  return (nowUs: number, tokens: number): boolean => {
    const now = BigInt(nowUs);
    if (now > atUs) deficit -= (now - atUs) * BigInt(rate.requestsPerSecond);
    if (deficit < 0n) deficit = 0n;
    atUs = now;
    const cost = BigInt(tokens) * 1_000_000n;
    const capacity = BigInt(rate.burst) * 1_000_000n;
    const admitted = tokens === 0 || deficit + cost <= capacity || (cost > capacity && deficit === 0n);
    if (admitted) deficit += cost;
    return admitted;
  };
}

const rates = fc
  .tuple(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 0, max: 1_000_000 }))
  .map(([requestsPerSecond, more]) => ({ requestsPerSecond, burst: requestsPerSecond + more }));

/** Unix time in November 2026, where products with a rate pass 2^53. */
const startUs = 1_795_270_000_000_000;

function drain(rate: BucketRate, nowUs: number): Bucket {
  return take(fullBucket(nowUs), rate, nowUs, rate.burst).bucket;
}

describe('a token bucket', () => {
  it('a bucket admits exactly what unbounded integers admit, over any rate, pauses, steps back and costs', () => {
    const step = fc.tuple(
      fc.oneof(fc.integer({ min: -2_000_000, max: 3_000_000 }), fc.integer({ min: 0, max: 1e13 }), fc.constant(0)),
      fc.oneof(fc.constant(1), fc.integer({ min: 0, max: 3_000_000 })),
    );
    fc.assert(
      fc.property(rates, fc.array(step, { maxLength: 60 }), (rate, steps) => {
        const reference = referenceModel(rate, startUs);
        let bucket = fullBucket(startUs);
        let nowUs = startUs;
        for (const [pauseUs, tokens] of steps) {
          nowUs += pauseUs;
          const taking = take(bucket, rate, nowUs, tokens);
          expect(taking.admitted).toBe(reference(nowUs, tokens));
          bucket = taking.bucket;
        }
      }),
      { seed: 20_261_121, numRuns: 500 },
    );
  });

  it('a refusal reports the very microsecond from which the request is admitted', () => {
    fc.assert(
      fc.property(rates, fc.integer({ min: 1, max: 3_000_000 }), (rate, tokens) => {
        const { waitUs, admitted } = take(drain(rate, startUs), rate, startUs, tokens);
        expect(admitted).toBe(false);
        expect(take(drain(rate, startUs), rate, startUs + waitUs, tokens).admitted).toBe(true);
        expect(take(drain(rate, startUs), rate, startUs + waitUs - 1, tokens).admitted).toBe(false);
      }),
      { seed: 20_261_121, numRuns: 300 },
    );
  });

  it('a caller that never stops asking gets rate times seconds plus burst', () => {
    const rate = { requestsPerSecond: 25, burst: 50 };
    let bucket = fullBucket(startUs);
    let admitted = 0;
    for (let ms = 0; ms <= 60_000; ms++) {
      const taking = take(bucket, rate, startUs + ms * 1000, 1);
      bucket = taking.bucket;
      admitted += Number(taking.admitted);
    }
    expect(admitted).toBe(25 * 60 + 50);
  });

  it('a full bucket admits a request dearer than itself, and the debt is worked off', () => {
    const rate = { requestsPerSecond: 10, burst: 10 };
    const { bucket, admitted } = take(fullBucket(startUs), rate, startUs, 30);
    expect(admitted).toBe(true);
    expect(tokensLeft(bucket, rate)).toBe(0);
    expect(take(bucket, rate, startUs, 1)).toMatchObject({ admitted: false, waitUs: 2_100_000 });
    expect(take(bucket, rate, startUs + 2_900_000, 30).admitted).toBe(false);
    expect(take(bucket, rate, startUs + 3_000_000, 30).admitted).toBe(true);
  });

  it('an empty bucket admits a free request', () => {
    const rate = { requestsPerSecond: 1, burst: 1 };
    expect(take(drain(rate, startUs), rate, startUs, 0).admitted).toBe(true);
  });

  it('a bucket restored from the time at which it is full is never richer', () => {
    fc.assert(
      fc.property(rates, fc.integer({ min: 0, max: 2_000_000 }), (rate, tokens) => {
        const { bucket } = take(fullBucket(startUs), rate, startUs, Math.min(tokens, rate.burst));
        const restored = bucketFullAt(startUs + fullInUs(bucket, rate), rate, startUs);
        expect(restored.deficit).toBeGreaterThanOrEqual(bucket.deficit);
        expect(restored.deficit - bucket.deficit).toBeLessThan(rate.requestsPerSecond);
      }),
      { seed: 20_261_121, numRuns: 300 },
    );
  });
});
