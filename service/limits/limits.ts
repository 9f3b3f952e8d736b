/** What is asked: may this caller run this operation now? */
export type LimitRequest = {
  /** The API key as sent, whatever it is; undefined when none was sent. */
  readonly key: string | undefined;
  /** The caller's IP address as text, from `clientAddress`. */
  readonly clientAddress: string;
  /** Operation name as in a plan's `methodCosts`, e.g. `getAddressInformation`. */
  readonly operation: string;
  /** How many operations the request holds (elements of a batch); default 1. Multiplies the operation's cost. */
  readonly count?: number;
};

/** Where the caller's bucket stands after the decision; null for a plan without a rate limit. */
export type Quota = {
  /** Tokens of a full bucket (the plan's burst). */
  readonly limit: number;
  /** Whole tokens left, never negative. */
  readonly remaining: number;
  /** Whole seconds, rounded up, until the bucket is full again. */
  readonly resetSeconds: number;
};

/** The request may run. `release` must be called once it ended (it frees a place under `maxConcurrent`); more calls do nothing. */
export type Allowed = {
  readonly allowed: true;
  readonly plan: string;
  readonly quota: Quota | null;
  release(): void;
};

/**
 * Why not: `unknown_key` (401 `API key does not exist`: malformed, unknown, wrong secret or expired), `key_required` (401: no key, and the service has no
 * anonymous plan), `network_not_allowed` (403 `Network not allowed`), `rate_limited` (429 `Ratelimit exceeded`).
 */
export type RefusalCode = 'unknown_key' | 'key_required' | 'network_not_allowed' | 'rate_limited';

/** The request must not run. Holds nothing of the key. */
export type Refused = {
  readonly allowed: false;
  readonly code: RefusalCode;
  /** Null when no plan applies (401). */
  readonly plan: string | null;
  readonly quota: Quota | null;
  /** Whole seconds, at least 1, after which the same request may be allowed; null unless `rate_limited`. For `Retry-After`. */
  readonly retryAfterSeconds: number | null;
};

export type Decision = Allowed | Refused;

/** Decides before any work is done. Asynchronous because shared limits may ask another process; in process it settles at once. */
export type Limits = {
  decide(request: LimitRequest): Promise<Decision>;
  close(): Promise<void>;
};
