import { describe, expect, it } from 'vitest';

import { unreadableTimes } from '#operator/keys/stored-times.ts';
import { sampleKey } from '#test/operator/desired/samples.ts';

describe('a stored time of a key', () => {
  it('that can be read is no problem', () => {
    expect(unreadableTimes(sampleKey())).toBeUndefined();
    const rotation = { every: '720h', overlap: '1h30m' };
    expect(unreadableTimes(sampleKey({ rotation, expiresAt: '2027-01-01T00:00:00.5+02:00' }))).toBeUndefined();
  });

  it.each(['30d', '2 weeks', '1 hour', '1h 30m', '1e3h', '1H', '9999999999999h'])(
    'is named with its effect when it is %s',
    (every) => {
      expect(unreadableTimes(sampleKey({ rotation: { every, overlap: '24h' } }))).toBe(
        `spec.rotation.every: expected a duration as 10s or 1m30s, got "${every}", so only the trigger rotates the key`,
      );
    },
  );

  it('is named with each other one', () => {
    const key = sampleKey({ expiresAt: '2027-01-01T00:00:00,5Z', rotation: { overlap: '1d' } });
    expect(unreadableTimes(key)).toMatch(/^spec.expiresAt: .*, so the key is out of force; spec.rotation.overlap: /);
  });
});
