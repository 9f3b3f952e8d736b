import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';

import { Cell } from '@ton/core';
import { sha256_sync } from '@ton/crypto';
import { expect, it } from 'vitest';

import { createDraw } from './draw.ts';

it('SHA-256 of OpenSSL under @ton/core gives the digests of SHA-256 in JavaScript', () => {
  const own = createRequire(import.meta.url);
  const js = createRequire(own.resolve('@ton/crypto'))('jssha') as new (
    variant: string,
    form: string,
  ) => { update(hex: string): void; getHash(form: string): string };
  const draw = createDraw(20_261_128);
  for (let size = 0; size < 300; size++) {
    const bytes = Buffer.from(Array.from({ length: size }, () => draw(256)));
    const hasher = new js('SHA-256', 'HEX');
    hasher.update(bytes.toString('hex'));
    expect(sha256_sync(bytes).toString('hex')).toBe(hasher.getHash('HEX'));
  }
  expect(sha256_sync('größe')).toEqual(createHash('sha256').update('größe').digest());
});

it('SHA-256 of OpenSSL hashes the cells of @ton/core', () => {
  expect(Cell.EMPTY.hash().toString('hex')).toBe('96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7');
  expect(String(sha256_sync)).not.toContain('jssha');
});
