/** A plan as limits read it: what a caller may do in a time. Numbers are whole. */
export type LimitPlan = {
  readonly name: string;
  /** Tokens a second; 0 means no rate limit. */
  readonly requestsPerSecond: number;
  /** Tokens of a full bucket, at least `requestsPerSecond`. */
  readonly burst: number;
  /** Tokens in one UTC day; null means no limit. */
  readonly requestsPerDay: number | null;
  /** Requests running at once; null means no limit. */
  readonly maxConcurrent: number | null;
  /** Tokens an operation takes; 1 for those not named, 0 is free. */
  readonly methodCosts: Readonly<Record<string, number>>;
  /** Bounds of get-methods: gas, and milliseconds of one run. Unset, those of the service. */
  readonly getMethods?: { readonly gas?: number; readonly wallMs?: number };
} & Partial<Grants>;

/** Bounds of get-methods, and who pays for the thread time of all that the virtual machine runs. */
export type MethodTerms = NonNullable<LimitPlan['getMethods']> & {
  /** One for all callers without a key. */
  readonly payer: string;
};

/** What a plan opens besides a rate. */
export type Grants = {
  /** May read what only archive lite servers have. */
  readonly archive: boolean;
  /** Tiers of lite servers that may be asked for it. */
  readonly liteServerTiers: readonly string[];
};

/** Of a plan that says nothing about it. */
const noGrants: Grants = { archive: false, liteServerTiers: ['shared'] };

export function grantsOf({ archive, liteServerTiers }: LimitPlan): Grants {
  return { archive: archive ?? noGrants.archive, liteServerTiers: liteServerTiers ?? noGrants.liteServerTiers };
}

/** What can change while limits are in force. */
export type PlanOptions = {
  readonly plans: readonly LimitPlan[];
  /** Plan of callers without a key, counted by address; null: a key is needed. */
  readonly anonymousPlan: string | null;
};

/** What holds while Redis is away: each pod its share of a plan, no limit, or no request. */
export type OnRedisFailure = 'Local' | 'Open' | 'Closed';

export type LimitsOptions = PlanOptions & {
  /** The network served; keys issued for others are refused. */
  readonly network: string;
  /** Text for a caller without a key whose rate is used up: how to get a key. Default: none. */
  readonly keyHint?: string | undefined;
  /** Addresses whose budget is remembered one by one; default 100,000. */
  readonly addressesMax?: number;
};

/** About 20 MB. More addresses than this within one refill time are a flood, and then they share budgets (see `addresses.ts`). */
export const defaultAddressesMax = 100_000;
