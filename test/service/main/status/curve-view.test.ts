import { describe, expect, it } from 'vitest';

import { drawCurve, figure, maximum } from '#service/main/status/curve-view.ts';

const pathOf = (values: readonly number[], samplesMax: number): string =>
  /<path d="([^"]*)" class="curve"/.exec(drawCurve({ values }, samplesMax))?.[1] ?? '';

describe('a curve of the status page', () => {
  it.each<[string, number[], string]>([
    [
      'ends at the right edge, from 0 at the bottom to its maximum at the top',
      [0, 4, 2],
      'M0.0 35.0L120.0 1.0L240.0 18.0',
    ],
    ['begins where its samples begin', [4], 'M240.0 1.0'],
    ['of zeros lies at the bottom', [0, 0], 'M120.0 35.0L240.0 35.0'],
    ['has a gap where a figure is absent', [1, Number.NaN, 1], 'M0.0 1.0M240.0 1.0'],
    ['without figures is empty', [Number.NaN], ''],
  ])('%s', (_title, values, path) => {
    expect(pathOf(values, 3)).toBe(path);
  });

  it('has no style attribute, which the policy would refuse', () => {
    expect(drawCurve({ values: [1, 2] }, 3)).not.toMatch(/style=|<script/);
  });

  it.each<[number | undefined, string]>([
    [undefined, '–'],
    [Number.NaN, '–'],
    [0, '0 s'],
    [0.0123, '0.012 s'],
    [1.234, '1.23 s'],
    [12.34, '12.3 s'],
    [1234.5, '1235 s'],
  ])('the figure %s is shown as %s', (value, text) => {
    expect(figure(value, 's')).toBe(text);
  });

  it('the maximum of figures passes over gaps', () => {
    expect([maximum([Number.NaN, 2, 1]), maximum([Number.NaN]), maximum([])]).toEqual([2, 0, 0]);
  });
});
