import type { Logger } from 'pino';

import type { SharedFloors } from '../floors.ts';
import type { ZeroStateId } from '../head.ts';
import { createRedisLink } from './link.ts';
import type { RedisClient } from './link.ts';
import { createSharedAnswers } from './shared-answers.ts';
import type { SharedAnswers } from './shared-answers.ts';
import { createSharedFloors } from './shared-floors.ts';

/** The Redis of an API's pods. */
export type PoolRedis = {
  /** A new connection, one that keeps no question for later and sends none twice. */
  readonly connect: () => RedisClient;
  /** Name of the TonApi. */
  readonly api: string;
};

/** What the pods share. */
export type Shared = {
  readonly floors: SharedFloors;
  readonly answers: SharedAnswers;
  readonly isHere: () => boolean;
  close(): void;
};

/** Connects in the background: until Redis is here, everything is done without it. */
export function connectShared(
  options: PoolRedis & { readonly zeroState: ZeroStateId; readonly keptMs: number },
  dependencies: { readonly logger: Logger; readonly headSeqno: () => number },
): Shared {
  const link = createRedisLink(options.connect(), dependencies);
  // One that listens answers no questions.
  const listener = options.connect();
  const floors = createSharedFloors(options, { link, listener, headSeqno: dependencies.headSeqno });
  return {
    floors,
    answers: createSharedAnswers(options.zeroState, link),
    isHere: link.isHere,
    close() {
      floors.close();
      link.close();
    },
  };
}
