import type { Plan } from '../config.ts';

/** Plan as limits read it. Permissions that it does not name are the least. */
export type LimitPlan = Omit<Plan, keyof Grants> & Partial<Grants>;

/** Bounds of a caller's streams. */
export type StreamingTerms = {
  /** Streams open at once, over all pods. */
  readonly connections: number;
  /** Addresses of one stream. */
  readonly addresses: number;
  /** Traces of one stream. */
  readonly traces: number;
};

/** Bounds of streaming, and the caller whose streams are counted together. */
export type StreamingGrant = StreamingTerms & {
  /** Name of the budget: a key, an owner of keys, or an address. */
  readonly owner: string;
};

const keyStreaming: StreamingTerms = { connections: 10, addresses: 1000, traces: 100 };
const anonymousStreaming: StreamingTerms = { connections: 1, addresses: 10, traces: 10 };

/** Bounds of one stream, whatever its plan says. */
export const STREAM_ADDRESSES_MAX = 10_000;
export const STREAM_TRACES_MAX = 1000;

/** Bounds of the streams of a plan, with the defaults. @param hasKey false: the defaults are those of callers without a key */
export function streamingTermsOf({ streaming }: LimitPlan, hasKey: boolean): StreamingTerms {
  const terms = { ...(hasKey ? keyStreaming : anonymousStreaming), ...streaming };
  return {
    connections: terms.connections,
    addresses: Math.min(terms.addresses, STREAM_ADDRESSES_MAX),
    traces: Math.min(terms.traces, STREAM_TRACES_MAX),
  };
}

/** Bounds of get-methods, and the payer of the thread time of the virtual machine. */
export type MethodTerms = NonNullable<LimitPlan['getMethods']> & {
  /** Id of the payer. All callers without a key share one. */
  readonly payer: string;
};

/** Permissions of a plan besides a rate. */
export type Grants = {
  /** True when the plan may read data that only archive lite servers have. */
  readonly archive: boolean;
  /** Tiers of lite servers that may serve the plan. */
  readonly liteServerTiers: readonly string[];
};

/** Permissions of a plan that does not name any. */
const noGrants: Grants = { archive: false, liteServerTiers: ['shared'] };

/** Permissions of a plan for old blocks and for lite servers, with the defaults. */
export function grantsOf({ archive, liteServerTiers }: LimitPlan): Grants {
  return { archive: archive ?? noGrants.archive, liteServerTiers: liteServerTiers ?? noGrants.liteServerTiers };
}

/** Options that can change while limits are in force. */
export type PlanOptions = {
  readonly plans: readonly LimitPlan[];
  /** Plan of callers without a key, counted by address; null: a key is required. */
  readonly anonymousPlan: string | null;
};

/** Rule while Redis is unavailable. `Local`: each pod has its share of a plan. `Open`: no limit applies. `Closed`: every request is refused. */
export type OnRedisFailure = 'Local' | 'Open' | 'Closed';

export type LimitsOptions = PlanOptions & {
  /** Network served. Keys issued for other networks are refused. */
  readonly network: string;
  /** Text for a caller without a key whose rate is used up: how to get a key. None by default. */
  readonly keyHint?: string | undefined;
  /** Most addresses with a budget of their own in the cache; default 100,000. */
  readonly addressesMax?: number;
};

/** Default bound: about 20 MB. More addresses within one refill time are a flood, and then they share budgets (see `addresses.ts`). */
export const DEFAULT_ADDRESSES_MAX = 100_000;
