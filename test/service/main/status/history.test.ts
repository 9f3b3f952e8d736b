import { describe, expect, it } from 'vitest';

import { createHistory, type Reading } from '#service/main/status/history.ts';

const options = { everyMs: 3_600_000, samplesMax: 3, curvesMax: 2 };
const gauge = (name: string, value: number | undefined): Reading => ({ group: 'service', name, unit: 's', value });
const counter = (value: number): Reading => ({ ...gauge('requests', value), unit: '/s', isCounter: true });

/** Takes a sample each 10 s and returns the values of all curves by name. */
async function record(samples: readonly (readonly Reading[] | Error)[], more: Partial<typeof options> = {}) {
  let nowMs = 0;
  let current: readonly Reading[] | Error = [];
  const read = async (): Promise<readonly Reading[]> => {
    if (current instanceof Error) throw current;
    return current;
  };
  const history = createHistory({ ...options, ...more }, { read, nowMs: () => nowMs });
  for (const sample of samples) {
    nowMs += 10_000;
    current = sample;
    await history.sample();
  }
  history.close();
  return Object.fromEntries(history.curves().map(({ name, values }) => [name, values]));
}

describe('the history of figures', () => {
  it('has figures of the newest samples alone', async () => {
    expect(await record([1, 2, 3, 4].map((value) => [gauge('lag', value)]))).toEqual({ lag: [2, 3, 4] });
  });

  it('shows a counter as its growth a second, also after it began again at 0', async () => {
    expect(await record([counter(100), counter(150), counter(20)].map((one) => [one]))).toEqual({
      requests: [Number.NaN, 5, 2],
    });
  });

  it('has a gap for a figure that is absent, and for a failed reading', async () => {
    expect(await record([[gauge('lag', 1)], new Error('closed'), [gauge('lag', undefined)]])).toEqual({
      lag: [1, Number.NaN, Number.NaN],
    });
  });

  it('a curve that begins late ends with the others', async () => {
    expect(await record([[gauge('lag', 1)], [gauge('lag', 2), gauge('late', 7)]])).toEqual({
      lag: [1, 2],
      late: [Number.NaN, 7],
    });
  });

  it('drops a curve without a figure in all samples, and takes no more curves than its bound', async () => {
    const gone = [[gauge('gone', 1)], [gauge('lag', 1)], [gauge('lag', 1)], [gauge('lag', 1)]];
    expect(Object.keys(await record(gone))).toEqual(['lag']);
    const many = [['a', 'b', 'c'].map((name) => gauge(name, 1))];
    expect(Object.keys(await record(many))).toEqual(['a', 'b']);
  });
});
