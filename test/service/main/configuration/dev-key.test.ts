import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { keyMatches } from '#service/limits/keys.ts';
import { loadDevKey } from '#service/main/configuration/dev-key.ts';

describe('the key of the dev role', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tonplane-test-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is made at the first start, in a folder that need not exist', () => {
    const made = loadDevKey(join(folder, 'new'), randomBytes);
    expect(made.key).toMatch(/^ton_[0-9A-Za-z]+_[0-9A-Za-z]+$/);
    expect(keyMatches(made.key, made.sha256)).toBe(true);
  });

  it('stays the same at the next start', () => {
    expect(loadDevKey(folder, randomBytes)).toEqual(loadDevKey(folder, randomBytes));
  });

  it('is readable by its owner alone', () => {
    loadDevKey(folder, randomBytes);
    expect(statSync(join(folder, 'dev.key')).mode & 0o777).toBe(0o600);
  });

  it('is made anew when the file holds something else', () => {
    writeFileSync(join(folder, 'dev.key'), 'not a key');
    const { key } = loadDevKey(folder, randomBytes);
    expect(readFileSync(join(folder, 'dev.key'), 'utf8').trim()).toBe(key);
  });
});
