import type { Change, TraceSnapshot } from '../changes.ts';
import type { Feed } from '../hub/feed.ts';
import type { Publishing } from '../hub/publishing.ts';
import type { SnapshotNames } from '../hub/snapshot-names.ts';
import type { FeedSession } from './feed-session.ts';
import type { AppendResult } from './levels-metrics.ts';
import { createRoute, type RouteDependencies } from './levels-route.ts';
import { encodeRecord, type EncodedRecord } from './record-codec.ts';
import type { Appended, KnownEnd, SharedLog } from './shared-log.ts';

/**
 * Way of changes below `finalized` from their sources to the connections. With Redis it goes through the log that all pods share; while Redis is
 * away, or without one, through the log of this process (service/streaming/README.md#order).
 */
export type LevelsFeed = Feed & {
  /** Reports whether this pod has to do a piece of work that one pod does for all. */
  readonly claim: (work: string) => Promise<boolean>;
  readonly status: () => FeedStatus;
  readonly close: () => Promise<void>;
};

/** `process`: there is no Redis. */
export type FeedStatus = 'process' | 'shared' | 'away';

export type LevelsFeedDependencies = Omit<RouteDependencies, 'shared'> & {
  /** Undefined without Redis. */
  readonly shared: SharedLog | undefined;
  readonly names: SnapshotNames;
};

/** Changes on their way to Redis at a time. */
const AT_ONCE_MAX = 64;

export function createLevelsFeed(dependencies: LevelsFeedDependencies): LevelsFeed {
  const { shared, levels, names, publishing, metrics } = dependencies;
  if (shared === undefined) return feedOfProcess(publishing);
  const route = createRoute({ ...dependencies, shared });
  const knownEnd = (): KnownEnd => ({ epoch: levels.epoch(), newest: levels.newest() });

  /** @returns false when the session ends before connections have the change */
  async function append(session: FeedSession, change: Change, record: EncodedRecord): Promise<boolean> {
    const found = await shared!.append(record, knownEnd());
    metrics.appended(found === undefined ? 'failed' : resultOf(found));
    if (found?.epoch !== session.epoch) {
      route.leave(session, found === undefined ? 'away' : 'another');
      return false;
    }
    // Another pod has a newer snapshot than the withdrawn one.
    if (found.isOutdated) return true;
    names.note(change, found);
    const isGone = change.kind === 'trace' && found.number <= levels.dropped();
    if (found.number > session.joinedAt && !isGone) return session.passed(found.number);
    // The log had it before this process joined, or this process has it no longer. A connection may have begun since.
    await publishing.giveBare(change, found.number);
    return true;
  }

  /** @returns changes that connections do not have when the session ends */
  async function publishIn(session: FeedSession, changes: readonly Change[]): Promise<readonly Change[]> {
    const given: Promise<boolean>[] = [];
    for (const one of changes.slice(0, AT_ONCE_MAX)) {
      // A withdrawal names a snapshot before it.
      if (one.kind === 'invalidation') await Promise.all(given);
      const change = names.name(one);
      const isLate = publishing.ended.isOvertaken(change);
      const record = isLate ? undefined : await encodeRecord(change, publishing.livePosition());
      if (!isLate && record === undefined) metrics.appended('too_large');
      const appended = record === undefined ? Promise.resolve(true) : append(session, change, record);
      // The fault is thrown below, after the next records are encoded.
      appended.catch(() => undefined);
      given.push(appended);
    }
    const isGiven = await Promise.all(given);
    return changes.filter((_, at) => isGiven[at] !== true);
  }

  async function appendPart(part: TraceSnapshot): Promise<void> {
    const session = await route.settled();
    const record = session && (await encodeRecord(part, publishing.livePosition()));
    if (record === undefined) return;
    const found = await shared!.append(record, knownEnd());
    if (found?.epoch === session!.epoch) await session!.passed(found.number);
    else route.leave(session!, found === undefined ? 'away' : 'another');
  }

  return {
    async publish(changes) {
      for (let rest = changes; rest.length > 0;) {
        const session = await route.settled();
        if (session !== undefined) rest = await publishIn(session, rest);
        else if (await route.publishAlone(rest[0]!)) rest = rest.slice(1);
      }
    },
    sharePart(part) {
      if (route.isAlone()) return false;
      route.share(part, appendPart);
      return true;
    },
    partsShared: route.partsShared,
    isAlone: route.isAlone,
    findFormer: route.findFormer,
    claim: async (work) => route.isAlone() || ((await shared.claim(work)) ?? true),
    status: () => (route.isAlone() ? 'away' : 'shared'),
    close: route.close,
  };
}

function feedOfProcess(publishing: Pick<Publishing, 'publish'>): LevelsFeed {
  return {
    publish: publishing.publish,
    sharePart: () => false,
    partsShared: async () => undefined,
    isAlone: () => true,
    findFormer: async () => undefined,
    claim: async () => true,
    status: () => 'process',
    close: async () => undefined,
  };
}

function resultOf({ isNew, isOutdated }: Appended): AppendResult {
  return isOutdated ? 'outdated' : isNew ? 'added' : 'equal';
}
