import { describe, expect, it } from 'vitest';

import type { Condition } from '#operator/kubernetes/object.ts';
import { writeStatus } from '#operator/reconcile/status-writer.ts';
import { conditionTypes } from '#operator/status/conditions.ts';
import type { Observed } from '#operator/status/observed.ts';
import { summarize } from '#operator/status/summarize.ts';
import { annotated, sample } from '#test/operator/desired/samples.ts';

const nowMs = Date.UTC(2026, 10, 21);
const bounds = { signal: new AbortController().signal };

const observed: Observed = {
  live: [],
  pods: [],
  metadataPods: [],
  says: new Map(),
  problems: [],
  refusals: [],
  unserved: [],
  hotHash: 'a',
  readyMin: 1,
  migration: { state: 'current' },
  indexer: undefined,
  keys: 0,
  rollout: { hash: 'h', phase: 'settled' },
  fights: [],
};

const refused = { ...observed, refusals: [{ reason: 'NameTaken', message: 'x' }] } as const;

/** Every condition that a TonApi may have, each once. */
const conditions = [
  summarize(annotated(sample('full'), { 'tonplane.dev/paused': 'x' }), observed, nowMs),
  summarize(sample('full', { hibernate: true }), observed, nowMs),
  summarize(sample('typical'), refused, nowMs),
  summarize(sample('smallest'), { ...observed, rollout: { hash: 'h', phase: 'rolling' } }, nowMs),
].flatMap((status) => status.conditions ?? []);
const byType = Object.values(Object.fromEntries(conditions.map((condition) => [condition.type, condition])));

/** True when a status with these conditions in place of the others is written. */
async function isWritten(before: readonly Condition[], after: readonly Condition[]): Promise<boolean> {
  const of = { ...sample('full'), status: { conditions: [...before] } };
  const writer = { applyStatus: async () => of };
  return writeStatus(of, { conditions: after }, writer, bounds);
}

describe('a status', () => {
  it.each(byType.map((condition) => [condition.type, condition] as const))(
    'is written when its condition %s changes, comes or goes',
    async (_type, condition) => {
      const changed = { ...condition, reason: 'Other' };
      expect(await isWritten([condition], [condition])).toBe(false);
      expect(await isWritten([condition], [changed])).toBe(true);
      expect(await isWritten([], [condition])).toBe(true);
      expect(await isWritten([condition], [])).toBe(true);
    },
  );

  it('is not written for a condition of another writer', async () => {
    const other = { ...(byType[0] as Condition), type: 'example.com/Approved' };
    expect(await isWritten([other], [])).toBe(false);
  });

  it('is compared by every type of condition, of which the cases above are all', () => {
    expect(byType.map(({ type }) => type).toSorted()).toEqual([...conditionTypes].toSorted());
  });
});
