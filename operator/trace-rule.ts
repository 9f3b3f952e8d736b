/** Properties of a span that the rule reads, as in OpenTelemetry. */
export type EndedSpan = {
  readonly name: string;
  readonly status: { readonly code: number };
  readonly duration: readonly [seconds: number, nanoseconds: number];
  readonly attributes: Readonly<Record<string, unknown>>;
};

/** OpenTelemetry's status code of an error. */
const ERROR_CODE = 2;

/** Slower reconciles are always traced. */
const SLOW_SECONDS = 1;

/** Sampled share of reconciles that found nothing to do. */
const CALM_SHARE = 0.01;

/**
 * Selects traces (operator/README.md#traces): errors, more than a second, writes, and one of a hundred others.
 * Requests outside a reconcile, such as watches and the Lease, count only if they fail.
 */
export function createTraceRule(random: () => number): (spans: readonly EndedSpan[]) => boolean {
  return (spans) => {
    const root = spans.at(-1);
    if (root === undefined) return false;
    if (spans.some(({ status }) => status.code === ERROR_CODE)) return true;
    if (!root.name.startsWith('reconcile ')) return false;
    return root.duration[0] >= SLOW_SECONDS || spans.some(isWrite) || random() < CALM_SHARE;
  };
}

function isWrite({ attributes }: EndedSpan): boolean {
  const method = attributes['http.request.method'];
  return typeof method === 'string' && method !== 'GET';
}
