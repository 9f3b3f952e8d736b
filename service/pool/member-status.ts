import type { Role, Tier } from './read-access.ts';
import type { Depth } from './depth.ts';
import { depthKinds } from './depth.ts';
import type { HeadTimes } from './head-times.ts';
import type { Health } from './health.ts';
import type { Member } from './member.ts';
import { methodClasses } from '../liteserver/query-facts.ts';
import type { MemberReading } from './metrics.ts';
import type { RecentError } from './recent-errors.ts';
import { lagBlocks } from './selection.ts';

/** Lite server on the status page. */
export type LiteServerStatus = {
  readonly index: number;
  readonly name: string;
  readonly phase: Health['phase'];
  readonly cause: Health['cause'];
  readonly connected: boolean;
  /** Newest masterchain seqno it reported. */
  readonly tipSeqno: number | undefined;
  /** Masterchain blocks behind the served head. */
  readonly lagBlocks: number;
  /** Seconds for which the oldest block that it lacks has been served. */
  readonly lagSeconds: number;
  /** Milliseconds in which 70 % of its recent answers of each method class came; absent without answers. */
  readonly p70Ms: Readonly<Record<string, number | undefined>>;
  /** Oldest positions at which it has blocks and states; absent until measured. */
  readonly depth: Depth;
  readonly inFlight: number;
  /** Current limit of reads in flight. */
  readonly inFlightLimit: number;
  /** Check that its last misbehaviour failed; absent without misbehaviour. */
  readonly lastMisbehaviour: string | undefined;
  readonly tier: Tier;
  readonly role: Role;
  readonly weight: number;
  readonly misbehaviours: number;
  /** Last errors, newest first. A refusal that every other server would repeat is not listed. */
  readonly recentErrors: readonly RecentError[];
  readonly cordoned: boolean;
};

/**
 * Returns the figures of a lite server for metrics.
 * @param headSeqno of the served head; undefined before the first
 */
export function readingOf(
  member: Member,
  headSeqno: number | undefined,
  headTimes: Pick<HeadTimes, 'lagMs'>,
): MemberReading {
  const p70Seconds = methodClasses.flatMap((methodClass) => {
    const { p70Ms } = member.score(methodClass);
    return p70Ms === undefined ? [] : [{ methodClass, seconds: p70Ms / 1000 }];
  });
  return {
    name: member.name,
    lagBlocks: lagBlocks(member.candidate(), headSeqno),
    lagSeconds: headTimes.lagMs(member.tip()?.block.seqno ?? 0) / 1000,
    p70Seconds,
    oldest: oldestOf(member),
    inFlight: member.inFlight(),
    inFlightLimit: member.inFlightLimit(),
  };
}

function oldestOf(member: Member): MemberReading['oldest'] {
  return depthKinds.flatMap((kind) => {
    const edge = member.depth()[kind];
    return edge === undefined ? [] : [{ kind, seqno: edge.masterchain }];
  });
}

export function statusOf(member: Member, { lagBlocks: lag, lagSeconds }: MemberReading): LiteServerStatus {
  const { phase, cause, misbehaviours } = member.health();
  const { tier, role, weight } = member.use();
  return {
    index: member.index,
    name: member.name,
    phase,
    cause,
    connected: member.server.status().connected,
    tipSeqno: member.tip()?.block.seqno,
    lagBlocks: lag,
    lagSeconds,
    p70Ms: Object.fromEntries(methodClasses.map((methodClass) => [methodClass, member.score(methodClass).p70Ms])),
    depth: member.depth(),
    inFlight: member.inFlight(),
    inFlightLimit: member.inFlightLimit(),
    lastMisbehaviour: member.lastMisbehaviour(),
    recentErrors: member.recentErrors(),
    tier,
    role,
    weight,
    misbehaviours,
    cordoned: member.candidate().cordoned,
  };
}
