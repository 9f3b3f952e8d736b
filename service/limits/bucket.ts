/**
 * Token bucket counted in whole millionths of a token and whole microseconds. Integers never gain or lose by rounding: at r tokens a second, one
 * microsecond refills exactly r millionths.
 */
export type Bucket = {
  /** Millionths of a token missing from a full bucket. Exceeds the burst after a request that cost more than the bucket holds. */
  readonly deficit: number;
  /** Time at which `deficit` was exact, in whole microseconds. */
  readonly updatedUs: number;
};

/** Fill rate of a bucket: tokens a second (above 0) and tokens of a full bucket (at least 1). */
export type BucketRate = { readonly requestsPerSecond: number; readonly burst: number };

/** Result of taking tokens. `waitUs` is 0 when admitted, else the time until the same request is admitted if no other takes tokens. */
export type Taking = { readonly admitted: boolean; readonly bucket: Bucket; readonly waitUs: number };

/** Millionths in one token. */
export const TOKEN = 1_000_000;

/** Returns a full bucket. */
export function fullBucket(nowUs: number): Bucket {
  return { deficit: 0, updatedUs: nowUs };
}

/** Returns the bucket at `nowUs`. A clock that went back refills nothing and restarts from its new time. */
export function refill(bucket: Bucket, rate: BucketRate, nowUs: number): Bucket {
  const elapsedUs = Math.max(0, nowUs - bucket.updatedUs);
  // Beyond 2^53 the product is rounded. The product then exceeds every possible deficit, so the bucket is full either way.
  return { deficit: Math.max(0, bucket.deficit - elapsedUs * rate.requestsPerSecond), updatedUs: nowUs };
}

/**
 * Takes `tokens` (a whole number) if the bucket has them. A request dearer than a full bucket is admitted when the bucket is full and leaves a debt.
 * The request is therefore admitted at last, and never cheaper in the long run.
 */
export function take(bucket: Bucket, rate: BucketRate, nowUs: number, tokens: number): Taking {
  const now = refill(bucket, rate, nowUs);
  if (tokens === 0) return { admitted: true, bucket: now, waitUs: 0 };
  const deficitMax = Math.max(0, rate.burst - tokens) * TOKEN;
  if (now.deficit <= deficitMax) {
    return { admitted: true, bucket: { deficit: now.deficit + tokens * TOKEN, updatedUs: nowUs }, waitUs: 0 };
  }
  return { admitted: false, bucket: now, waitUs: Math.ceil((now.deficit - deficitMax) / rate.requestsPerSecond) };
}

/** Returns the bucket with unused tokens put back, never above full. */
export function putBack(bucket: Bucket, tokens: number): Bucket {
  return { deficit: Math.max(0, bucket.deficit - tokens * TOKEN), updatedUs: bucket.updatedUs };
}

/** Returns the whole tokens in the bucket, never negative. The bucket must be refilled up to the time in question. */
export function tokensLeft(bucket: Bucket, rate: BucketRate): number {
  return Math.max(0, Math.floor(rate.burst - bucket.deficit / TOKEN));
}

/** Returns the microseconds from `updatedUs` until the bucket is full. */
export function fullInUs(bucket: Bucket, rate: BucketRate): number {
  return Math.ceil(bucket.deficit / rate.requestsPerSecond);
}

/** Returns a bucket that is full at `fullAtUs` and lacks at most its burst. Inverse of `fullInUs`, rounded against the caller. */
export function bucketFullAt(fullAtUs: number, rate: BucketRate, nowUs: number): Bucket {
  const deficit = Math.max(0, fullAtUs - nowUs) * rate.requestsPerSecond;
  return { deficit: Math.min(deficit, rate.burst * TOKEN), updatedUs: nowUs };
}
