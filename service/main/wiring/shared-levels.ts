import { randomInt } from 'node:crypto';

import type { Logger } from 'pino';

import type { ServiceConfig } from '#service/config.ts';
import { networkScopeOf } from '#service/config/scope.ts';
import type { RedisServer } from '#service/limits/redis/connection.ts';
import { createSharedLog, type SharedLog } from '#service/streaming/levels/shared-log.ts';
import { EPOCHS_END } from '#service/streaming/request/cursor.ts';
import { linkTo } from './pending.ts';

/** The log of levels of all pods, over connections that may change. */
export type SharedLevels = { readonly log: SharedLog; readonly setRedis: (server: RedisServer) => void };

/** Connects streams to the log of levels in Redis. */
export function connectSharedLevels(
  config: Pick<ServiceConfig, 'name' | 'namespace' | 'anchors'>,
  server: RedisServer,
  { shortMs, logger }: { readonly shortMs: () => number; readonly logger: Logger },
): SharedLevels {
  const open = (next: RedisServer) => ({
    link: linkTo(next, logger, 'levels of streams'),
    reading: linkTo(next, logger, 'the log of levels'),
  });
  let lines = open(server);
  const log = createSharedLog(
    { scope: networkScopeOf(config) },
    {
      link: { ask: (command, timeoutMs) => lines.link.ask(command, timeoutMs), close: () => lines.link.close() },
      reading: {
        ask: (command, timeoutMs) => lines.reading.ask(command, timeoutMs),
        close: () => lines.reading.close(),
      },
      shortMs,
      randomEpoch: () => randomInt(1, EPOCHS_END),
    },
  );
  return {
    log,
    setRedis(next) {
      const { link, reading } = lines;
      lines = open(next);
      link.close();
      reading.close();
    },
  };
}
