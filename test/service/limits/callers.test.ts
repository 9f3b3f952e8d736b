import { describe, expect, it } from 'vitest';

import { createCallers, type Subject } from '#service/limits/callers.ts';

const subject = (name: string): Subject => ({ name }) as Subject;

describe('the cache of valid keys', () => {
  it('a key in use stays, and keys that are not used leave as others come', () => {
    const callers = createCallers();
    callers.set('busy', subject('busy'));
    callers.set('idle', subject('idle'));
    const lost = Array.from({ length: 30_000 }, (_, index) => {
      callers.set(`other ${index}`, subject('other'));
      return index % 5000 === 0 && callers.get('busy') === undefined;
    });
    expect(lost).not.toContain(true);
    expect(callers.get('idle')).toBeUndefined();
    expect(callers.get('other 0')).toBeUndefined();
    expect(callers.get('other 29999')).toBeDefined();
  });

  it('no key is left after a clear', () => {
    const callers = createCallers();
    for (let index = 0; index < 10_001; index++) callers.set(`key ${index}`, subject('key'));
    callers.clear();
    expect([0, 10_000].map((index) => callers.get(`key ${index}`))).toEqual([undefined, undefined]);
  });
});
