import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { followAuthorities } from '#operator/collector-authorities.ts';
import { createVirtualClock } from '#test/support/virtual-clock.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tonplane-authorities-'));
  file = join(folder, 'ca.crt');
});
afterEach(() => rmSync(folder, { recursive: true }));

it('the authorities of a collector are read at once and again after a renewal, and a missing file changes nothing', async () => {
  const clock = createVirtualClock();
  const [seen, failures]: [string[], unknown[]] = [[], []];
  writeFileSync(file, 'first');
  const end = followAuthorities(file, {
    clock,
    onChange: (pem) => seen.push(pem),
    onFailure: (error) => failures.push(error),
  });
  await clock.advance(60_000);
  rmSync(file);
  await clock.advance(60_000);
  writeFileSync(file, 'second');
  await clock.advance(60_000);
  end();
  writeFileSync(file, 'third');
  await clock.advance(60_000);
  expect(seen).toEqual(['first', 'second']);
  expect(failures).toHaveLength(2);
});

it('an operator without the file of the authorities does not start', () => {
  const [onChange, onFailure] = [() => undefined, () => undefined];
  expect(() => followAuthorities(file, { clock: createVirtualClock(), onChange, onFailure })).toThrow(/ca\.crt/);
});
