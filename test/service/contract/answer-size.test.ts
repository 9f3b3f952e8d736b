import { expect, it } from 'vitest';

import { createAnswerSize } from '#service/contract/answer-size.ts';

it('an answer has its bytes, and is refused with the first byte above', () => {
  const size = createAnswerSize({ mebibytes: 2 });
  size.take(1024 * 1024);
  size.take(1024 * 1024);
  expect(() => size.take(1)).toThrow('the answer is larger than 2 MiB: ask for less');
});
