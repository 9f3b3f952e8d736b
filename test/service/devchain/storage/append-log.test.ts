import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { array, assert, property, uint8Array } from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { openAppendLog } from '#service/devchain/storage/append-log.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tonplane-records-'));
  path = join(folder, 'records.bin');
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(...payloads: Buffer[]): void {
  const file = openAppendLog(path);
  for (const _ of file.records());
  for (const payload of payloads) file.append(payload);
  file.close();
}

function read(): { payloads: string[]; cutBytes: number } {
  const file = openAppendLog(path);
  const payloads = [...file.records()].map(({ payload }) => payload.toString('latin1'));
  const { cutBytes } = file;
  file.close();
  return { payloads, cutBytes };
}

describe('a file of records', () => {
  it('gives back what was appended, over any number of openings', () => {
    assert(
      property(array(array(uint8Array({ maxLength: 300 }), { maxLength: 5 }), { maxLength: 5 }), (rounds) => {
        rmSync(path, { force: true });
        rounds.forEach((round) => write(...round.map((bytes) => Buffer.from(bytes))));
        const expected = rounds.flat().map((bytes) => Buffer.from(bytes).toString('latin1'));
        expect(read()).toEqual({ payloads: expected, cutBytes: 0 });
      }),
      { seed: 7, numRuns: 50 },
    );
  });

  it('loses the last record alone when it was cut at any byte, and takes the next one', () => {
    write(Buffer.from('first'), Buffer.from('second one'));
    const whole = readFileSync(path);
    const firstBytes = 12 + 5;
    for (let bytes = 0; bytes < whole.length; bytes++) {
      writeFileSync(path, whole);
      truncateSync(path, bytes);
      const kept = bytes >= firstBytes ? ['first'] : [];
      expect(read()).toEqual({ payloads: kept, cutBytes: bytes - (kept.length === 0 ? 0 : firstBytes) });
      write(Buffer.from('third'));
      expect(read()).toEqual({ payloads: [...kept, 'third'], cutBytes: 0 });
    }
  });

  it('cuts off zeros and noise that a failing machine left at the end', () => {
    for (const tail of [Buffer.alloc(5000), Buffer.from('TpR1'.repeat(500)), Buffer.alloc(700, 0xff)]) {
      rmSync(path, { force: true });
      write(Buffer.from('first'));
      writeFileSync(path, Buffer.concat([readFileSync(path), tail]));
      expect(read()).toEqual({ payloads: ['first'], cutBytes: tail.length });
    }
  });

  it('refuses a change in its middle instead of throwing away what follows, and leaves it as it is', () => {
    write(Buffer.from('first'), Buffer.from('second'), Buffer.from('third'));
    const changed = readFileSync(path);
    for (const at of [20, 25, 33]) {
      const broken = Buffer.from(changed);
      broken[at]! ^= 1;
      writeFileSync(path, broken);
      expect(read).toThrow(expect.objectContaining({ code: 'kept_network_invalid' }));
      expect(readFileSync(path)).toEqual(broken);
    }
  });
});
