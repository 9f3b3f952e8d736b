/**
 * A token bucket counted in whole millionths of a token and whole microseconds, so that nothing is ever lost or won by rounding:
 * at r tokens a second one microsecond brings back exactly r millionths.
 */
export type Bucket = {
  /** Millionths of a token missing from a full bucket; above the burst when one request cost more than the bucket holds. */
  readonly deficit: number;
  /** When `deficit` was right, in whole microseconds. */
  readonly updatedUs: number;
};

/** How a bucket fills: tokens a second (above 0) and tokens of a full bucket (at least 1). */
export type BucketRate = { readonly requestsPerSecond: number; readonly burst: number };

/** `waitUs` is 0 when admitted, else the time after which the same request is admitted if nothing else is taken. */
export type Taking = { readonly admitted: boolean; readonly bucket: Bucket; readonly waitUs: number };

/** Parts of one token. */
export const TOKEN = 1_000_000;

/** A bucket nothing was taken from. */
export function fullBucket(nowUs: number): Bucket {
  return { deficit: 0, updatedUs: nowUs };
}

/** The bucket as it stands at `nowUs`. A clock that went back brings nothing and counts on from there. */
export function refill(bucket: Bucket, rate: BucketRate, nowUs: number): Bucket {
  const elapsedUs = Math.max(0, nowUs - bucket.updatedUs);
  // Beyond 2^53 the product is rounded, but then it exceeds every possible deficit and the bucket is full either way.
  return { deficit: Math.max(0, bucket.deficit - elapsedUs * rate.requestsPerSecond), updatedUs: nowUs };
}

/**
 * Takes `tokens` (a whole number) if they are there. A request dearer than a full bucket is admitted when the bucket is full and leaves a debt, so that
 * it is neither refused for ever nor cheaper in the long run.
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

/** The bucket with tokens that were taken and not used; never fuller than full. */
export function putBack(bucket: Bucket, tokens: number): Bucket {
  return { deficit: Math.max(0, bucket.deficit - tokens * TOKEN), updatedUs: bucket.updatedUs };
}

/** Whole tokens that are there; never negative. The bucket must stand at the time asked about. */
export function tokensLeft(bucket: Bucket, rate: BucketRate): number {
  return Math.max(0, Math.floor(rate.burst - bucket.deficit / TOKEN));
}

/** Microseconds from the bucket's own time until it is full. */
export function fullInUs(bucket: Bucket, rate: BucketRate): number {
  return Math.ceil(bucket.deficit / rate.requestsPerSecond);
}

/** A bucket that will be full at `fullAtUs`, but lacks no more than its burst. Inverse of `fullInUs`, rounded against the caller. */
export function bucketFullAt(fullAtUs: number, rate: BucketRate, nowUs: number): Bucket {
  const deficit = Math.max(0, fullAtUs - nowUs) * rate.requestsPerSecond;
  return { deficit: Math.min(deficit, rate.burst * TOKEN), updatedUs: nowUs };
}
