import { describe, expect, it } from 'vitest';

import { requireArchive } from '#service/live/archive.ts';
import type { Depth } from '#service/pool/depth.ts';
import type { LiteServerStatus } from '#service/pool/member-status.ts';
import type { Pool } from '#service/pool/pool.ts';

/** A pool of lite servers of which no more is known than this. */
function poolOf(
  ...known: readonly Partial<Pick<LiteServerStatus, 'phase' | 'cordoned' | 'depth'>>[]
): Pick<Pool, 'status'> {
  const liteServers = known.map((one, index) => ({ index, phase: 'in', cordoned: false, depth: {}, ...one }));
  return { status: () => liteServers as unknown as LiteServerStatus[] };
}

const from = (masterchain: number): { depth: Depth } => ({ depth: { masterchainBlock: { masterchain, shard: 0 } } });

describe('history of an archival lite server alone', () => {
  it.each([
    ['one has it from the first block on', poolOf(from(500), from(1))],
    ['one has it from block 3 on', poolOf(from(3))],
    ['the depth of one is not found out yet', poolOf(from(500), {})],
    ['there is no lite server to judge', poolOf()],
    ['all are out', poolOf({ phase: 'out', ...from(500) })],
  ])('may be asked for while %s', (_what, pool) => {
    expect(() => requireArchive(pool)).not.toThrow();
  });

  it.each([
    ['all have less', poolOf(from(4), from(70_000))],
    ['the archival one is out', poolOf(from(500), { phase: 'out', ...from(1) })],
    ['the archival one is cordoned', poolOf(from(500), { cordoned: true, ...from(1) })],
  ])('is refused when %s', (_what, pool) => {
    const refusal = { code: 'no_archive', message: 'no workers available (archival=1 mode=Single)' };
    expect(() => requireArchive(pool)).toThrow(expect.objectContaining(refusal));
  });
});
