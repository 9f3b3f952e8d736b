import type { Curve } from './history.ts';

const WIDTH = 240;
const HEIGHT = 36;

/**
 * Draws a curve from 0 to its maximum as SVG without styles. A time without a figure is a gap.
 * @param samplesMax samples of the whole width; the newest is at the right edge
 */
export function drawCurve({ values }: Pick<Curve, 'values'>, samplesMax: number): string {
  const max = maximum(values);
  const step = WIDTH / Math.max(1, samplesMax - 1);
  const points = values.map((value, index) => {
    const x = WIDTH - (values.length - 1 - index) * step;
    const y = HEIGHT - 1 - (max === 0 ? 0 : (value / max) * (HEIGHT - 2));
    return Number.isNaN(value) ? undefined : `${x.toFixed(1)} ${y.toFixed(1)}`;
  });
  const path = points
    .map((point, index) => {
      if (point === undefined) return '';
      return `${index === 0 || points[index - 1] === undefined ? 'M' : 'L'}${point}`;
    })
    .join('');
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" aria-hidden="true"><path d="M0 ${HEIGHT - 0.5}H${WIDTH}" class="axis"/><path d="${path}" class="curve"/></svg>`;
}

/** Greatest figure; 0 for none. */
export function maximum(values: readonly number[]): number {
  return values.reduce((max, value) => (value > max ? value : max), 0);
}

/** A figure with three digits, or a dash for none. */
export function figure(value: number | undefined, unit: string): string {
  if (value === undefined || Number.isNaN(value)) return '–';
  const digits = value === 0 || value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  return `${value.toFixed(digits)} ${unit}`;
}
