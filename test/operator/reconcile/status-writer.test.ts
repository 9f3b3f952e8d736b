import { describe, expect, it } from 'vitest';

import type { Condition } from '#operator/kubernetes/object.ts';
import { writeStatus } from '#operator/reconcile/status-writer.ts';
import { conditionTypes } from '#operator/status/conditions.ts';
import { summarize } from '#operator/status/summarize.ts';
import { annotated, sample } from '#test/operator/desired/samples.ts';
import { observed } from '#test/operator/status/observed-api.ts';

const nowMs = Date.UTC(2026, 10, 21);
const bounds = { signal: new AbortController().signal };

const seen = observed();
const refused = { ...seen, refusals: [{ reason: 'NameTaken', message: 'x' }] } as const;

/** Every condition that a TonApi may have, each once. */
const conditions = [
  summarize(annotated(sample('full'), { 'tonplane.dev/paused': 'x' }), seen, nowMs),
  summarize(sample('full', { hibernate: true }), seen, nowMs),
  summarize(sample('typical'), refused, nowMs),
  summarize(sample('smallest'), { ...seen, rollout: { hash: 'h', phase: 'rolling' } }, nowMs),
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
