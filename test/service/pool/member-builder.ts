import { pino } from 'pino';
import { Registry } from 'prom-client';

import { createMember } from '#service/pool/member.ts';
import type { Member, MemberDependencies } from '#service/pool/member.ts';
import { createPoolMetrics } from '#service/pool/metrics.ts';
import type { PoolMetrics } from '#service/pool/metrics.ts';
import { tuningDefaults } from '#service/pool/options.ts';
import type { PoolTuning } from '#service/pool/options.ts';

const none = (): number => 0;

/** Creates metrics that no registry reads. */
export function unreadMetrics(): PoolMetrics {
  return createPoolMetrics(new Registry(), {
    headSeqno: none,
    headUtime: none,
    usable: none,
    rejected: none,
    cacheBytes: none,
    waiters: none,
    redisAway: none,
    members: () => [],
  });
}

/** Creates one lite server of a pool, over a connection that is never used unless one is given. */
export function buildMember(
  given: {
    index?: number;
    tuning?: PoolTuning;
    server?: MemberDependencies['server'];
    now?: () => number;
    onRoom?: () => void;
  } = {},
): Member {
  const { index = 0, tuning = tuningDefaults } = given;
  return createMember(
    { index, name: `ls${index}`, tuning },
    {
      server: given.server ?? ({} as MemberDependencies['server']),
      metrics: unreadMetrics(),
      logger: pino({ level: 'silent' }),
      onRoom: given.onRoom ?? (() => undefined),
      now: given.now ?? (() => performance.now()),
      random: () => 0.5,
    },
  );
}
