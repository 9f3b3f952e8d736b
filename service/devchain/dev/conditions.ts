/** Simulated treatment of the API's callers, set by a developer to test a client. */
export type Conditions = {
  /** Milliseconds that each request waits. */
  readonly delayMs: number;
  /** Percent of requests that fail. */
  readonly failurePercent: number;
  /** Limit for all callers together; 0 means no limit. */
  readonly requestsPerSecond: number;
};

export const noConditions: Conditions = { delayMs: 0, failurePercent: 0, requestsPerSecond: 0 };

/** The conditions in force. */
export type ConditionsHolder = { current: Conditions };
