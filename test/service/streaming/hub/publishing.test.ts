import { describe, expect, it } from 'vitest';

import { createSemaphore } from '#service/runtime/semaphore.ts';
import type { Change, TraceSnapshot } from '#service/streaming/changes.ts';
import { createLevelsLog } from '#service/streaming/hub/levels-log.ts';
import { createPublishing, type Publishing } from '#service/streaming/hub/publishing.ts';
import { createSnapshotNames } from '#service/streaming/hub/snapshot-names.ts';
import { account, createScriptedLog, hash, trace, transaction } from './hub-under-test.ts';

const expired: Change = { kind: 'invalidation', key: hash(1), reason: 'expired' };

const shown = (name: string, key = 1): TraceSnapshot =>
  trace(hash(key), { finality: 'pending', transactions: [transaction(name, account('A'))] });

const nameOf = (change: Change): string =>
  change.kind === 'trace' ? change.transactions[0]!.hash : change.kind === 'invalidation' ? change.reason : '';

/** Changes of one process. `given` has them in the order of their turns. */
function createPublishingUnderTest(work: (change: Change) => Promise<void>): Publishing & { readonly given: string[] } {
  const levels = createLevelsLog({ epoch: 7, nowMs: () => 0 });
  const given: string[] = [];
  const publishing = createPublishing({
    log: createScriptedLog(),
    levels,
    names: createSnapshotNames({ levels }),
    distribution: {
      readEarly: async () => undefined,
      recall: () => undefined,
      async distribute({ change }) {
        given.push(nameOf(change));
        await work(change);
      },
    },
    turns: createSemaphore(1),
    signal: new AbortController().signal,
    metrics: { distributed: () => undefined },
    nowMs: () => 0,
    takesLevels: () => true,
    isWatched: () => true,
    sharePart: () => false,
    onFault(error) {
      throw error;
    },
  });
  return { ...publishing, given };
}

describe('a withdrawal in the log of one process', () => {
  it('takes back the snapshot that was the newest one when it came, and no newer one', async () => {
    const busy = Promise.withResolvers<void>();
    const publishing = createPublishingUnderTest((change) =>
      nameOf(change) === 'busy' ? busy.promise : Promise.resolve(),
    );
    await publishing.publish([shown('old')]);
    const waiting = [[shown('busy', 2)], [shown('new')], [expired]].map((changes) => publishing.publish(changes));
    busy.resolve();
    await Promise.all(waiting);
    expect(publishing.given).toEqual(['old', 'busy', 'new']);
    await publishing.publish([expired]);
    expect(publishing.given.at(-1)).toBe('expired');
  });

  it('takes back a snapshot before it of the same publication', async () => {
    const publishing = createPublishingUnderTest(async () => undefined);
    await publishing.publish([shown('old')]);
    await publishing.publish([shown('new'), expired]);
    expect(publishing.given).toEqual(['old', 'new', 'expired']);
  });
});
