import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { makeFolder } from '#service/runtime/make-folder.ts';

describe('a folder', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tonplane-folder-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is made with its parents, and stays as it is the next time', () => {
    const path = join(folder, 'a/b/c/');
    makeFolder(path);
    makeFolder(path);
    expect(statSync(path).isDirectory()).toBe(true);
  });

  it.each(['/proc/tonplane', '/proc/tonplane/data'])('that the system does not make is refused at once: %s', (path) => {
    expect(() => makeFolder(path)).toThrow('ENOENT');
  });

  it('is not made in place of a file, or below a file', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(() => makeFolder(file)).toThrow('EEXIST');
    expect(() => makeFolder(join(file, 'a'))).toThrow('EEXIST');
  });
});
