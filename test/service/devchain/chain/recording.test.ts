import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';

import { loadChain } from '#service/devchain/devchain.ts';
import { recordingDir } from '../network.ts';

const kept = 40;

function linesOf(name: string): string[] {
  const plain = join(recordingDir, name);
  const bytes = existsSync(plain) ? readFileSync(plain) : gunzipSync(readFileSync(`${plain}.gz`));
  return bytes.toString().split('\n').slice(0, kept);
}

type Edit = { blocks?: (lines: string[]) => string[]; packed?: (bytes: Buffer) => Buffer; without?: string };

/** A short recording, with something wrong in it. */
function record({ blocks = (lines) => lines, packed, without }: Edit = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'recording-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ['zerostate-masterchain.boc', 'zerostate-basechain.boc']) {
    if (name !== without) copyFileSync(join(recordingDir, name), join(folder, name));
  }
  const text = blocks(linesOf('blocks.jsonl')).join('\n');
  if (packed === undefined) writeFileSync(join(folder, 'blocks.jsonl'), text);
  else writeFileSync(join(folder, 'blocks.jsonl.gz'), packed(gzipSync(text)));
  writeFileSync(join(folder, 'signatures.jsonl'), linesOf('signatures.jsonl').join('\n'));
  return folder;
}

function edit(line: string, change: (record: Record<string, unknown>) => object): string {
  const fields = JSON.parse(line) as Record<string, unknown>;
  return JSON.stringify({ ...fields, ...change(fields) });
}

const isMasterchain = (line: string): boolean => (JSON.parse(line) as { workchain: number }).workchain === -1;

describe('a recording', () => {
  it('is read from plain and from packed lines', async () => {
    const [plain, packed] = [await loadChain(record()), await loadChain(record({ packed: (bytes) => bytes }))];
    expect(plain.lastSeqno).toBeGreaterThan(1);
    expect(packed.lastSeqno).toBe(plain.lastSeqno);
  });

  it.each<[string, Edit]>([
    ['without a zerostate', { without: 'zerostate-basechain.boc' }],
    ['without blocks', { blocks: () => [] }],
    ['with a line that is cut', { blocks: (lines) => lines.map((line, at) => (at === 5 ? line.slice(0, 90) : line)) }],
    ['that is packed badly', { packed: (bytes) => bytes.subarray(0, bytes.length >> 1) }],
    [
      'with a block that has changed',
      {
        blocks: ([first = '', ...rest]) => [
          edit(first, ({ boc }) => ({ boc: `AAAA${String(boc).slice(4)}` })),
          ...rest,
        ],
      },
    ],
    [
      'with a block of another name',
      { blocks: ([first = '', ...rest]) => [edit(first, () => ({ root_hash: '77'.repeat(32) })), ...rest] },
    ],
    [
      'with a block at another place',
      { blocks: ([first = '', ...rest]) => [edit(first, () => ({ seqno: 2 })), ...rest] },
    ],
    ['with blocks before those they follow', { blocks: (lines) => lines.toReversed() }],
    [
      'with a gap',
      {
        blocks: (lines) =>
          lines.filter((_, at) => at !== lines.findIndex((one, from) => from > 3 && isMasterchain(one))),
      },
    ],
  ])('%s is refused', async (_, change) => {
    await expect(loadChain(record(change))).rejects.toMatchObject({ code: 'recording_invalid' });
  });
});
