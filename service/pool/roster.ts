import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import type { LiteServer } from '../liteserver/liteserver.ts';
import type { LiteServerOptions, LiteServerTuning } from '../liteserver/options.ts';
import { createDepthProber } from './depth-prober.ts';
import type { DepthProber } from './depth-prober.ts';
import type { ZeroStateId } from './head.ts';
import { createHeadFollower } from './head-follower.ts';
import type { HeadFollower } from './head-follower.ts';
import { createMember } from './member.ts';
import type { LiteServerUse, Member, MemberDependencies } from './member.ts';
import type { PoolLiteServer, PoolTuning } from './options.ts';
import { isUsable } from './selection.ts';

/** Lite servers in use, each with its followers. The list may change while reads are in progress. */
export type Roster = {
  /** Always the same array, changed in place. Indexes of members are never reused. */
  readonly members: readonly Member[];
  /** Follows the lite servers of the list; their reports go to `onReport`. */
  start(onReport: () => void): void;
  /**
   * Replaces the lite servers in use. A server with the same name, address and key stays, with its new weight, cordon and bound. New servers are
   * added. Removed servers get no new reads and are closed when their reads are answered.
   */
  readonly replace: (liteServers: readonly PoolLiteServer[]) => void;
  /** Called when a lite server lacks an old block or state that it was expected to have. */
  readonly onMissing: (index: number) => void;
  close(): Promise<void>;
};

export type RosterDependencies = Omit<MemberDependencies, 'server'> & {
  readonly createLiteServer: (liteServer: LiteServerOptions) => LiteServer;
  readonly logger: Logger;
};

type Seat = {
  readonly member: Member;
  readonly address: string;
  follower?: HeadFollower;
  prober?: DepthProber;
};

/**
 * Bound of a connection, far above the limits: the custom resource's maximum, and the followers. The pool decides how many reads a lite server gets;
 * this bound only stops a fault.
 */
const CONNECTION_IN_FLIGHT_MAX = 10_100;

/** Milliseconds between checks whether a removed lite server's last read is answered. */
const DRAIN_STEP_MS = 20;

export function createRoster(
  options: {
    readonly liteServers: readonly PoolLiteServer[];
    readonly zeroState: ZeroStateId;
    readonly tuning: PoolTuning;
  },
  dependencies: RosterDependencies,
): Roster {
  const { tuning, zeroState } = options;
  const { logger, now } = dependencies;
  const members: Member[] = [];
  const seats = new Map<number, Seat>();
  const leaving = new Set<Promise<void>>();
  let nextIndex = 0;
  let onReport: (() => void) | undefined;
  const closing = new AbortController();

  function add(liteServer: PoolLiteServer): void {
    const { name, host, port, publicKey } = liteServer;
    const server = dependencies.createLiteServer({ name, host, port, publicKey, tuning: connectionTuning(tuning) });
    const member = createMember({ index: nextIndex, name, tuning }, { ...dependencies, server });
    nextIndex += 1;
    member.adjust(useOf(liteServer));
    members.push(member);
    const seat = { member, address: addressOf(liteServer) };
    seats.set(member.index, seat);
    if (onReport !== undefined) follow(seat, onReport);
  }

  function follow(seat: Seat, report: () => void): void {
    const { member } = seat;
    seat.follower = createHeadFollower({ zeroState, tuning }, { member, onReport: report, isUrgent, now });
    // The slices of a partial server already say how far back it goes.
    if (member.use().slices === null) seat.prober = createDepthProber(tuning, { member });
  }

  function isUrgent(): boolean {
    return !members.some((member) => isUsable(member.candidate()));
  }

  async function remove({ member, follower, prober }: Seat): Promise<void> {
    members.splice(members.indexOf(member), 1);
    seats.delete(member.index);
    await Promise.all([follower?.close(), prober?.close()]);
    const endMs = now() + tuning.queryTimeoutMs;
    while (!closing.signal.aborted && member.inFlight() > 0 && now() < endMs) await sleep(DRAIN_STEP_MS);
    await member.server.close();
  }

  for (const liteServer of options.liteServers) add(liteServer);

  return {
    members,
    start(report) {
      onReport = report;
      for (const seat of seats.values()) follow(seat, report);
    },
    replace(liteServers) {
      if (closing.signal.aborted) return;
      const wanted = new Map(liteServers.map((liteServer) => [addressOf(liteServer), liteServer]));
      for (const seat of seats.values()) {
        const stays = wanted.get(seat.address);
        wanted.delete(seat.address);
        if (stays !== undefined) {
          seat.member.adjust(useOf(stays));
          continue;
        }
        logger.info({ liteServer: seat.member.name }, 'lite server leaves the pool');
        const left = remove(seat).finally(() => leaving.delete(left));
        leaving.add(left);
      }
      for (const liteServer of wanted.values()) {
        logger.info({ liteServer: liteServer.name }, 'lite server joins the pool');
        add(liteServer);
      }
    },
    onMissing: (index) => seats.get(index)?.prober?.hurry(),
    async close() {
      closing.abort();
      const servers = members.map(({ server }) => server.close());
      const loops = [...seats.values()].flatMap(({ follower, prober }) => [follower?.close(), prober?.close()]);
      await Promise.all([...servers, ...loops, ...leaving]);
    },
  };
}

function useOf({ maxInFlight, weight, cordoned, tier, role, slices }: PoolLiteServer): Partial<LiteServerUse> {
  const wishes = { maxInFlight, weight, cordoned, tier, role, slices };
  return Object.fromEntries(Object.entries(wishes).filter(([, wish]) => wish !== undefined));
}

function addressOf({ name, host, port, publicKey }: PoolLiteServer): string {
  return `${name} ${host} ${port} ${publicKey.toString('hex')}`;
}

/** Returns the tuning of connections. The pool probes a recovered lite server soon, and the connection must exist for that. */
function connectionTuning({ reconnectMsMax, connectTimeoutMs }: PoolTuning): Partial<LiteServerTuning> {
  return { backoffMaxMs: reconnectMsMax, connectTimeoutMs, inFlightMax: CONNECTION_IN_FLIGHT_MAX };
}
