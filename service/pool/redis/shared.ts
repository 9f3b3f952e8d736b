import type { Logger } from 'pino';

import type { SharedFloors } from '../floors.ts';
import type { ZeroStateId } from '../head.ts';
import { createRedisLink } from './link.ts';
import { createSharedAnswers } from './shared-answers.ts';
import type { SharedAnswers } from './shared-answers.ts';
import { createSharedFloors } from './shared-floors.ts';

/** The Redis of an API's pods. */
export type PoolRedis = {
  /** `redis://` or `rediss://`; a secret. */
  readonly url: string;
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
  dependencies: { readonly logger: Logger; readonly headSeqno: () => number; readonly random: () => number },
): Shared {
  const link = createRedisLink({ url: options.url }, dependencies);
  const floors = createSharedFloors(options, { link, headSeqno: dependencies.headSeqno });
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
