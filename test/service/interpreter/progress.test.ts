import { expect, it } from 'vitest';

import { createInterpreterProgress, formatInterpretation } from '#service/interpreter/progress.ts';

it('the interpreter reports its progress, its rate and its remaining time', () => {
  let ms = 0;
  const progress = createInterpreterProgress(() => ms);
  const text = (): string => formatInterpretation(progress.view());
  expect(text()).toBe('actions not begun');
  progress.left({ todo: 1_500, older: 0, newest: 9 });
  ms = 10_000;
  progress.written(500, 700);
  progress.left({ todo: 900, older: 100, newest: 9 });
  expect(progress.view()).toMatchObject({
    remainingBlocks: 1_000,
    olderBlocks: 100,
    tracesPerSecond: 70,
    etaSeconds: 20,
  });
  expect(text()).toBe('actions 1,000 blocks behind (100 of an older version), 50.0 blocks/s, 20s to go');
  progress.left({ todo: 1, older: 0, newest: 9 });
  expect(text()).toMatch(/^actions 1 block behind, /);
  progress.left({ todo: 0, older: 0, newest: null });
  expect(text()).toBe('actions up to date');
});
