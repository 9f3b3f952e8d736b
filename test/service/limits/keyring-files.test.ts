import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { readKeyring } from '#service/limits/keyring-files.ts';

const NONE = '{"keys":[]}';
const MIB = 1024 * 1024;

const refusal = (problem: string): unknown =>
  expect.objectContaining({ code: 'keyring_invalid', data: { problems: [expect.stringContaining(problem)] } });

describe('the files of a keyring', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'keyring-files-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('a keyring of 512 files is read, and one more is refused', () => {
    for (let index = 0; index < 512; index++) writeFileSync(join(folder, `${index}.json`), NONE);
    expect(readKeyring(folder).keys.size).toBe(0);
    writeFileSync(join(folder, 'more.json'), NONE);
    expect(() => readKeyring(folder)).toThrow(refusal('at most 512 files, got 513'));
  });

  it('a keyring of more than 256 MiB is refused unread', () => {
    const file = join(folder, 'keyring.json');
    writeFileSync(file, '');
    truncateSync(file, 256 * MIB + 1);
    expect(() => readKeyring(file)).toThrow(refusal(`at most ${256 * MIB} bytes`));
  });

  it('a packed file of more than 32 MiB unpacked is refused', () => {
    writeFileSync(join(folder, 'keyring.gz'), gzipSync(Buffer.alloc(32 * MIB + 1, 0x20), { level: 1 }));
    expect(() => readKeyring(folder)).toThrow(refusal('cannot be read: ERR_BUFFER_TOO_LARGE'));
  });

  it('files in folders of folders are read, and files below these are not', () => {
    const deep = join(folder, 'a', 'b');
    mkdirSync(deep, { recursive: true });
    writeFileSync(join(folder, 'a', 'keyring.json'), NONE);
    writeFileSync(join(deep, 'keyring.json'), 'no keyring');
    expect(readKeyring(folder).keys.size).toBe(0);
  });

  it('a keyring that is not there is refused with the code of the file system', () => {
    expect(() => readKeyring(join(folder, 'nothing'))).toThrow(refusal('cannot be read: ENOENT'));
  });
});
