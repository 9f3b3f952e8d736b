import type { Semaphore } from '#service/runtime/semaphore.ts';
import type { Change, FinalLog, Hub, Position, TraceSnapshot } from '../changes.ts';
import type { Distribution, EarlyLabels } from './distribution.ts';
import type { HubMetrics } from './hub-metrics.ts';
import type { LevelsLog } from './levels-log.ts';
import { laterOf, positionOf, steps } from './positions.ts';

/** Brings the changes of all sources into one order, and gives them to the connections one at a time. */
export type Publishing = {
  readonly publish: Hub['publish'];
  /** Final position behind all changes that live connections were given. */
  readonly livePosition: () => Position | null;
};

export type PublishingDependencies = {
  readonly log: Pick<FinalLog, 'newest'>;
  readonly levels: LevelsLog;
  readonly distribution: Pick<Distribution, 'readEarly' | 'distribute'>;
  /** Admits one change at a time. No subscription begins during it. */
  readonly turns: Semaphore;
  readonly signal: AbortSignal;
  readonly metrics: Pick<HubMetrics, 'distributed'>;
  readonly nowMs: () => number;
  /** Reports whether a connection below `finalized` watches one of the accounts or traces. */
  readonly takesLevels: (keys: { readonly accounts: Iterable<string>; readonly traces: Iterable<string> }) => boolean;
  /** No connection has a change in its events, so all resume. */
  readonly onFault: (error: unknown) => void;
};

/** Traces that became final: what is said about them as pending came too late. Some minutes of mainnet. */
const FINAL_KEYS_MAX = 20_000;

export function createPublishing(dependencies: PublishingDependencies): Publishing {
  const { log, levels, distribution, turns, signal, metrics, nowMs, takesLevels, onFault } = dependencies;
  const finalKeys = createRecentKeys(FINAL_KEYS_MAX);
  /** Position behind the newest final change that was distributed. */
  let distributed: Position | null = null;
  let publishing = 0;

  const livePosition = (): Position | null => (publishing > 0 ? distributed : laterOf(log.newest(), distributed));

  /** Lower levels of a trace do not follow its final parts, so the log of levels has these parts too. */
  function isOpenPart(change: Change): boolean {
    if (change.kind !== 'trace' || isEnd(change)) return false;
    const accounts = change.transactions.map(({ account }) => account);
    return takesLevels({ accounts, traces: [change.key, ...change.hashes] });
  }

  async function distribute(change: Change, early: EarlyLabels | undefined): Promise<void> {
    const isFinal = finalPositionOf(change) !== null;
    if (!isFinal && isLate(change, finalKeys)) return;
    const record = !isFinal || isOpenPart(change) ? levels.append(change, livePosition()) : null;
    const startMs = nowMs();
    try {
      await distribution.distribute({ change, record: isFinal ? null : record }, early);
      metrics.distributed(change.kind === 'invalidation' ? 'none' : change.finality, (nowMs() - startMs) / 1000);
    } catch (error) {
      if (signal.aborted) return;
      onFault(error);
    }
    if (record !== null) levels.given(record);
  }

  async function readEarly(change: Change): Promise<EarlyLabels | undefined> {
    try {
      return await distribution.readEarly(change);
    } catch {
      // The distribution reads labels itself, and reports its failure.
      return undefined;
    }
  }

  /** A final change is behind the live connections. */
  function pass(change: Change): void {
    const position = finalPositionOf(change);
    if (position === null) return;
    distributed = laterOf(positionOf(position, steps.last), distributed);
    if (change.kind === 'trace' && isEnd(change)) levels.end(change.key, positionOf(position, steps.last));
  }

  async function publishAll(changes: readonly Change[]): Promise<void> {
    for (const change of changes) {
      const early = await readEarly(change);
      await turns.run(signal, async () => {
        await distribute(change, early);
        pass(change);
      });
    }
  }

  return {
    livePosition,
    async publish(changes) {
      const first = changes.map(finalPositionOf).find((position) => position !== null);
      if (first === undefined) return publishAll(changes);
      // The index has the whole block already, and connections have none of it yet.
      if (publishing === 0) distributed = laterOf(positionOf(first, steps.before), distributed);
      publishing++;
      // A connection that resumes now gets the ends of the traces from the index. No lower level may follow them.
      for (const change of changes) if (change.kind === 'trace' && isEnd(change)) finalKeys.add(change.key);
      try {
        await publishAll(changes);
      } finally {
        publishing--;
      }
    },
  };
}

/** Position of a final change; null for others. */
function finalPositionOf(change: Change): Position | null {
  return change.kind === 'invalidation' ? null : change.position;
}

/** Reports whether a change that is not final says about a final trace what was true before. */
function isLate(change: Change, finalKeys: RecentKeys): boolean {
  return (change.kind === 'trace' || change.kind === 'invalidation') && finalKeys.has(change.key);
}

/** Reports whether a trace is final with a change. */
function isEnd({ finality, stage }: TraceSnapshot): boolean {
  return finality === 'finalized' && (stage === undefined || stage === 'last');
}

type RecentKeys = { readonly add: (key: string) => void; readonly has: (key: string) => boolean };

/** The newest keys, as many as the bound. */
function createRecentKeys(max: number): RecentKeys {
  const keys = new Set<string>();
  return {
    add(key) {
      keys.delete(key);
      keys.add(key);
      const [oldest] = keys;
      if (keys.size > max && oldest !== undefined) keys.delete(oldest);
    },
    has: (key) => keys.has(key),
  };
}
