import type { InterfaceFactsRow } from './classification-tables.ts';

/** Interfaces of an account after its transactions above `after_lt` up to `until_lt`. */
export type ValiditySpan = Omit<InterfaceFactsRow, 'account'>;

/** Changes of an account's spans. */
export type SpanChanges = {
  /** `after_lt` of stored spans to delete. */
  readonly removed: readonly bigint[];
  readonly added: readonly ValiditySpan[];
};

/**
 * Replaces stored spans with spans that were examined now. Equal spans that meet at a transaction are merged, so that the result does not
 * depend on their order.
 *
 * @param stored spans that overlap or meet the seen spans
 */
export function planSpans(stored: readonly ValiditySpan[], seen: readonly ValiditySpan[]): SpanChanges {
  let spans = [...stored];
  for (const one of seen) spans = [...spans.flatMap((span) => without(span, one)), one];
  const joined: ValiditySpan[] = [];
  for (const span of spans.toSorted((one, other) => compare(one.after_lt, other.after_lt))) {
    const last = joined.at(-1);
    const isNext = last?.until_lt === span.after_lt && saysSame(last, span);
    if (isNext) joined[joined.length - 1] = { ...last, until_lt: span.until_lt };
    else joined.push(span);
  }
  const isIn = (list: readonly ValiditySpan[], span: ValiditySpan): boolean => list.some((one) => isSame(one, span));
  return {
    removed: stored.filter((span) => !isIn(joined, span)).map((span) => span.after_lt),
    added: joined.filter((span) => !isIn(stored, span)),
  };
}

/** Parts of a span outside of another span. */
function without(span: ValiditySpan, other: ValiditySpan): ValiditySpan[] {
  if (span.until_lt <= other.after_lt || span.after_lt >= other.until_lt) return [span];
  return [
    { ...span, until_lt: other.after_lt },
    { ...span, after_lt: other.until_lt },
  ].filter((part) => part.after_lt < part.until_lt);
}

function isSame(one: ValiditySpan, other: ValiditySpan): boolean {
  return one.after_lt === other.after_lt && one.until_lt === other.until_lt && saysSame(one, other);
}

function saysSame(one: ValiditySpan, other: ValiditySpan): boolean {
  return one.version === other.version && textOf(one.facts) === textOf(other.facts);
}

/** Returns the same text for the same JSON, in any order of fields. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

function compare(one: bigint, other: bigint): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
