import type { Logger } from 'pino';

import type { SharedHeads } from '../monotonic-heads.ts';
import { createBoundedRedis } from './bounded-redis.ts';
import type { RedisClient } from './bounded-redis.ts';
import { createSharedAnswers } from './shared-answers.ts';
import type { SharedAnswers, SharedAnswersOptions } from './shared-answers.ts';
import { createSharedFloors, FLOOR_MS } from './shared-floors.ts';

/** Redis of an API's pods. */
export type PoolRedis = {
  /** Opens a new connection, which queues no command and sends none twice. */
  readonly connect: () => RedisClient;
  /** Scope of the TonApi, as `scopeOf` makes it. */
  readonly api: string;
};

/** State that the pods share. */
export type Shared = {
  readonly floors: SharedHeads;
  readonly answers: SharedAnswers;
  readonly isHere: () => boolean;
  /** Switches to another Redis, or to the same one under another password. */
  setConnect(connect: PoolRedis['connect']): void;
  close(): void;
};

type Lines = Omit<Shared, 'setConnect'>;

type SharedOptions = PoolRedis & SharedAnswersOptions & { readonly keptMs: number };

type SharedDependencies = {
  readonly logger: Logger;
  readonly headSeqno: () => number;
  /** Called for a value of a form that no pod writes; it counts as absent. */
  readonly onMalformed: () => void;
};

/** Connects in the background. Until Redis is available, the pool works without it. */
export function connectShared(options: SharedOptions, dependencies: SharedDependencies): Shared {
  let lines = openLines(options, dependencies);
  return {
    floors: {
      newest: () => lines.floors.newest(),
      announce: (seqno) => lines.floors.announce(seqno),
      read: (caller) => lines.floors.read(caller),
      raise: (caller, seqno) => lines.floors.raise(caller, seqno),
      replace: (caller, seqno) => lines.floors.replace(caller, seqno),
    },
    answers: {
      read: (request) => lines.answers.read(request),
      write: (request, answer) => lines.answers.write(request, answer),
      drop: (request) => lines.answers.drop(request),
    },
    isHere: () => lines.isHere(),
    setConnect(connect) {
      lines.close();
      lines = openLines({ ...options, connect }, dependencies);
    },
    close: () => lines.close(),
  };
}

function openLines(options: SharedOptions, { logger, headSeqno, onMalformed }: SharedDependencies): Lines {
  // Each has its own line and its own timeout. An answer is worth a few milliseconds, a floor is worth a longer wait.
  const client = options.connect();
  const floorsLink = createBoundedRedis({ use: 'floors', quickMs: FLOOR_MS }, { client, logger });
  const answersLink = createBoundedRedis(
    { use: 'answers', quickMs: options.answerMs },
    { client: options.connect(), logger },
  );
  // A listening connection answers no commands.
  const listener = client.isCluster ? undefined : options.connect();
  const floors = createSharedFloors(options, { link: floorsLink, listener, headSeqno, onMalformed });
  return {
    floors,
    answers: createSharedAnswers(options, { link: answersLink, onMalformed }),
    isHere: () => floorsLink.isHere() && answersLink.isHere(),
    close() {
      floors.close();
      floorsLink.close();
      answersLink.close();
    },
  };
}
