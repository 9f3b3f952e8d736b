import { createHash } from 'node:crypto';

import type { EventType, Finality, Subscription } from '../changes.ts';
import type { LevelsPlace } from '../request/cursor.ts';
import { watchesAllOf } from './absent-connections.ts';
import type { LevelsLog } from './levels-log.ts';
import type { ShownBefore } from './resume.ts';
import type { Subscriber } from './subscriber.ts';

/** A question of a pod to the others: which of them watched all the time for a connection that comes back? */
export type FormerQuestion = {
  readonly connection: number;
  readonly place: LevelsPlace;
  /** Print of key, accounts and traces (`watchDigest`). */
  readonly digest: string;
  readonly types: readonly EventType[];
  readonly minFinality: Finality;
};

/** Former connections of this process, open or cut. */
export type Formers = {
  /** Snapshots that a former connection may have been shown, if all was watched for it since a place; else undefined. */
  readonly own: (connection: number, place: LevelsPlace, keyId: string, wish: Subscription) => ShownBefore | undefined;
  /** Mark of the same for a connection that comes back to another pod. It asks for the same level, accounts and traces. */
  readonly answer: (question: FormerQuestion) => number | undefined;
};

export type FormersDependencies = {
  readonly levels: Pick<LevelsLog, 'reaches'>;
  readonly find: (connection: number) => Subscriber | undefined;
};

export function createFormers({ levels, find }: FormersDependencies): Formers {
  function shownTo(
    connection: number,
    place: LevelsPlace,
    isSame: (keyId: string, wish: Subscription) => boolean,
  ): ShownBefore | undefined {
    const former = find(connection);
    const wish = former?.viewer()?.wish;
    if (former === undefined || wish === undefined || wish.minFinality === 'finalized') return undefined;
    const isWhole = levels.reaches(place, true) && place.mark >= former.begun && isSame(former.keyId, wish);
    return isWhole ? { since: former.since ?? place.mark, shownFrom: wish.minFinality } : undefined;
  }
  return {
    own: (connection, place, keyId, wish) =>
      shownTo(connection, place, (key, watched) => key === keyId && watchesAllOf(watched, wish)),
    answer: ({ connection, place, digest, types, minFinality }) =>
      shownTo(connection, place, (key, watched) => {
        const isLevel = minFinality === watched.minFinality;
        return isLevel && types.every((type) => watched.types.has(type)) && watchDigest(key, watched) === digest;
      })?.since,
  };
}

/** Equal for the same accounts and traces under the same key. */
export function watchDigest(keyId: string, { accounts, traces }: Pick<Subscription, 'accounts' | 'traces'>): string {
  const all = [[keyId], [...accounts].toSorted(), [...traces].toSorted()];
  return createHash('sha256').update(JSON.stringify(all)).digest('base64');
}
