import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { makeNamedFolder, makeWritableFolder } from '#service/main/configuration/named-files.ts';

const sentence = '--data: expected a folder that can be created and written, got ENOENT for';

describe('a folder of the command line', () => {
  it('that cannot be made is refused with a sentence', () => {
    expect(() => makeNamedFolder('--data', '/proc/tonplane')).toThrow(`${sentence} /proc/tonplane`);
  });

  it('that takes no files is refused with a sentence', () => {
    // Root writes into folders without the right to write, but not into this one.
    expect(() => makeWritableFolder('--data', '/proc')).toThrow(`${sentence} /proc`);
  });

  it('that takes files is left as it is', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tonplane-named-'));
    makeWritableFolder('--data', join(folder, 'data'));
    expect(readdirSync(folder, { recursive: true })).toEqual(['data']);
    rmSync(folder, { recursive: true });
  });
});
