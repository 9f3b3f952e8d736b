import { createHash, randomBytes } from 'node:crypto';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { keyHash, keyMatches, makeKey, parseKey } from '#service/limits/keys.ts';

describe('a key', () => {
  it('a key is ton_<id>_<secret> in base 62, and its hash is the SHA-256 of the whole text', () => {
    const { key, id, sha256 } = makeKey(randomBytes);
    expect(key).toMatch(/^ton_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}$/);
    expect(key.split('_')[1]).toBe(id);
    expect(sha256.equals(createHash('sha256').update(key).digest())).toBe(true);
  });

  it('a secret has all of its 256 bits', () => {
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (secret) => {
        const { key } = makeKey((length) => (length === 32 ? Buffer.from(secret) : Buffer.alloc(length)));
        const value = Array.from(key.split('_')[2] ?? '').reduce(
          (sum, digit) => sum * 62n + BigInt(digits.indexOf(digit)),
          0n,
        );
        expect(value.toString(16).padStart(64, '0')).toBe(Buffer.from(secret).toString('hex'));
      }),
      { seed: 20_261_121 },
    );
  });

  it('no two keys are the same', () => {
    const keys = Array.from({ length: 2000 }, () => makeKey(randomBytes));
    expect(new Set(keys.map(({ id }) => id)).size).toBe(keys.length);
    expect(new Set(keys.map(({ key }) => key)).size).toBe(keys.length);
  });

  it('a key matches its own hash only', () => {
    const { key, sha256 } = makeKey(randomBytes);
    const other = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    expect(keyMatches(key, sha256)).toBe(true);
    expect(keyMatches(other, sha256)).toBe(false);
  });

  it.each([
    '',
    'ton_',
    'ton__',
    `ton_${'a'.repeat(12)}_${'b'.repeat(42)}`,
    `ton_${'a'.repeat(12)}_${'b'.repeat(42)}-`,
    `TON_${'a'.repeat(12)}_${'b'.repeat(43)}`,
  ])('%j is not a key', (text) => {
    expect(parseKey(text)).toBeUndefined();
  });

  it('no random text is parsed as a key', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 100 }), (text) => {
        expect(parseKey(text)).toBeUndefined();
      }),
      { seed: 20_261_121 },
    );
  });

  it('text beyond ASCII is hashed without failing', () => {
    expect(keyHash('ключ')).toHaveLength(32);
  });
});
