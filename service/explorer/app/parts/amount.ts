import { formatTon, formatUnits, safeText } from '../format.ts';
import { html } from '../html.ts';

/** Symbols longer than this are cut. */
const SYMBOL_MAX = 24;

/** An amount in TON. @param value nanotons; null: nothing */
export function Ton({ value }: { readonly value: string | bigint | null | undefined }) {
  if (value === null || value === undefined) return html`<span class="faint">–</span>`;
  return html`<span class="amount" title="${String(value)} nanotons"
    >${formatTon(value)} <span class="unit">TON</span></span
  >`;
}

/** An amount of a token. @param units smallest units */
export function Amount({
  units,
  decimals,
  symbol,
}: {
  readonly units: string | bigint;
  readonly decimals: number;
  readonly symbol: string;
}) {
  return html`<span class="amount" title="${String(units)} units"
    >${formatUnits(units, decimals)} <bdi class="unit">${safeText(symbol, SYMBOL_MAX)}</bdi></span
  >`;
}
