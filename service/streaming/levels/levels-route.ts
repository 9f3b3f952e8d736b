import { randomInt, randomUUID } from 'node:crypto';

import type { Logger } from 'pino';

import { inTime } from '#service/runtime/in-time.ts';
import { pause } from '#service/runtime/retry.ts';
import type { Change, TraceSnapshot } from '../changes.ts';
import type { Feed } from '../hub/feed.ts';
import { watchDigest, type Formers } from '../hub/formers.ts';
import type { LevelsBeginning, LevelsLog, TimedRecord } from '../hub/levels-log.ts';
import { lastWhole } from '../hub/positions.ts';
import type { Publishing } from '../hub/publishing.ts';
import { createRecentKeys } from '../hub/recent-keys.ts';
import { EPOCHS_END } from '../request/cursor.ts';
import { createFeedSession, emptyPast, readPast, type FeedSession, type SessionEnd } from './feed-session.ts';
import type { LevelsMetrics } from './levels-metrics.ts';
import type { SharedBeginning, SharedLog, Word } from './shared-log.ts';

/** The log that changes go through now. */
export type Route = Pick<Feed, 'partsShared' | 'isAlone' | 'findFormer'> & {
  /** Session of the shared log; undefined while this process is alone. Waits while the log changes. */
  readonly settled: () => Promise<FeedSession | undefined>;
  /** @returns false when the log changes */
  readonly publishAlone: (change: Change) => Promise<boolean>;
  readonly leave: (session: FeedSession, why: SessionEnd) => void;
  /** Adds a final part after those on their way, unless it was added or is old. Answers to other pods wait for it. */
  readonly share: (part: TraceSnapshot, append: (part: TraceSnapshot) => Promise<void>) => void;
  readonly close: () => Promise<void>;
};

export type RouteDependencies = {
  readonly shared: SharedLog;
  readonly levels: LevelsLog;
  readonly publishing: Publishing;
  /**
   * Goes on with another log, between two changes.
   * @param isLost connections below `finalized` lost records, and end; their cursors say so
   */
  readonly restart: (beginning: LevelsBeginning, isLost: boolean) => Promise<void>;
  readonly answer: Formers['answer'];
  readonly metrics: LevelsMetrics;
  readonly logger: Logger;
  readonly nowMs: () => number;
  /** 0..1 */
  readonly random: () => number;
};

type Question = Extract<Word, { readonly kind: 'question' }>;

/** Milliseconds between two attempts to join the shared log, about. */
const JOIN_MS = 500;

/** Questions and answers of one entry: some 25 kB. */
const WORDS_AT_ONCE = 64;

/** Blocks by which a final part may be behind: longer than a record is there. A resume over a day reads older ones. */
const PARTS_BEHIND_MAX = 1_000;

/** Final parts that are not added twice. */
const PARTS_MAX = 1_000;

/** Milliseconds for which a cursor waits: for the log's past when a process starts, and for the answer of another pod. */
const WAIT_MS = { start: 2_000, answer: 1_000 } as const;

/** Joins the shared log whenever Redis answers, and goes alone while it does not. Runs until it is closed. */
export function createRoute(dependencies: RouteDependencies): Route {
  const { shared, levels, publishing, restart, answer, metrics, logger, nowMs, random } = dependencies;
  const ending = new AbortController();
  const { signal } = ending;
  let session: FeedSession | undefined;
  /** Records were lost since this process came to its log. Callers who come before the next log lost them too. */
  let isLost = false;
  /** Resolves when a change of the log is done. */
  let moving: PromiseWithResolvers<void> | undefined;
  const alone = new Set<Promise<void>>();
  const started = Promise.withResolvers<void>();
  const startTimer = setTimeout(started.resolve, WAIT_MS.start);
  const answers = new Map<string, (since: number) => void>();
  const say = createSpeech(shared);
  const knownParts = createRecentKeys<true>(PARTS_MAX);
  /** Resolves when the final parts on their way are in the log. */
  let parts = Promise.resolve();

  /** New changes wait from now on. */
  function depart(why: SessionEnd): void {
    moving ??= Promise.withResolvers<void>();
    session?.end(why);
    session = undefined;
  }

  /** Goes on with another log, after the changes on their way. */
  async function arrive(beginning: LevelsBeginning, next: FeedSession | undefined): Promise<void> {
    depart('away');
    await Promise.allSettled(alone);
    await restart(beginning, isLost);
    isLost = false;
    session = next;
    metrics.moved(next === undefined ? 'process' : 'shared');
    moving?.resolve();
    moving = undefined;
  }

  async function goAlone(): Promise<void> {
    if (session === undefined && moving === undefined) return;
    const epoch = randomInt(1, EPOCHS_END);
    await arrive({ epoch, newest: 0, records: [], droppedMs: nowMs(), cutMs: -Infinity }, undefined);
  }

  function onWords(words: readonly Word[]): void {
    for (const word of words) {
      if (word.kind === 'answer') answers.get(word.name)?.(word.since);
      else void parts.then(() => reply(word));
    }
  }

  function reply({ name, question }: Question): void {
    const since = answer(question);
    if (since !== undefined) say({ kind: 'answer', name, since });
  }

  /** Follows the shared log as long as that is possible. @param before end of the former session */
  async function followShared(before: SessionEnd): Promise<SessionEnd> {
    const beginning = await shared.join({ epoch: levels.epoch(), newest: levels.newest() });
    // A log that replaces the former one has no record that live connections had.
    const past = beginning && (before === 'another' ? emptyPast(beginning) : await readPast(beginning, shared, nowMs));
    if (past === undefined || signal.aborted) return 'away';
    const newest = before === 'another' ? 0 : beginning!.newest;
    const found = beginningOf({ ...beginning!, newest }, past.records, {
      nowMs: nowMs(),
      recordedMs: levels.recordedMs(),
    });
    const place = { epoch: found.epoch, joinedAt: found.newest };
    const next = createFeedSession(place, { shared, levels, publishing, onWords });
    await arrive(found, next);
    started.resolve();
    const end = await next.follow(past.place);
    isLost = end === 'lost';
    if (session === next) depart(end);
    return end;
  }

  async function run(): Promise<void> {
    for (let end: SessionEnd = 'away'; !signal.aborted;) {
      end = await followShared(end).catch((error: unknown): SessionEnd => {
        if (!signal.aborted) logger.error({ err: error }, 'the shared log of levels was not followed');
        return 'away';
      });
      if (signal.aborted) return;
      if (end === 'away') await goAlone();
      if (end === 'away') await pause(JOIN_MS * (0.5 + random()), signal);
    }
  }

  const done = run().catch((error: unknown) => {
    if (!signal.aborted) logger.error({ err: error }, 'the shared log of levels is left for good');
  });

  return {
    partsShared: () => parts,
    isAlone: () => session === undefined && moving === undefined,
    async settled() {
      for (let change = moving; change !== undefined; change = moving) await change.promise;
      return session;
    },
    async publishAlone(change) {
      if (moving !== undefined || session !== undefined) return false;
      const work = publishing.publish([change]);
      alone.add(work);
      await work.finally(() => alone.delete(work));
      return true;
    },
    leave(left, why) {
      if (left === session) depart(why);
    },
    share(part, append) {
      const { key, position } = part;
      const name = `${levels.epoch()}:${key}:${position!.mcSeqno}:${position!.index}`;
      const behind = (publishing.livePosition()?.mcSeqno ?? 0) - position!.mcSeqno;
      if (behind > PARTS_BEHIND_MAX || knownParts.replace(name, true) === true) return;
      parts = parts
        .then(() => append(part))
        .catch((error: unknown) => logger.error({ err: error }, 'a final part is not in the log of levels'));
    },
    async findFormer({ connection, place, keyId, wish }, caller) {
      await inTime(started.promise, WAIT_MS.start);
      const now = session;
      if (now === undefined || place.epoch !== now.epoch) return undefined;
      const late = new AbortController();
      const isPassed = await inTime(now.passed(lastWhole(place.mark), late.signal), WAIT_MS.answer);
      late.abort();
      if (isPassed !== true) return undefined;
      caller.throwIfAborted();
      const name = randomUUID();
      const { promise, resolve } = Promise.withResolvers<number>();
      answers.set(name, resolve);
      const [types, digest] = [[...wish.types], watchDigest(keyId, wish)];
      const question = { connection, place, digest, types, minFinality: wish.minFinality };
      say({ kind: 'question', name, question });
      const since = await inTime(promise, WAIT_MS.answer);
      answers.delete(name);
      return session === now ? since : undefined;
    },
    async close() {
      ending.abort(new Error('the feed of levels is closed'));
      clearTimeout(startTimer);
      started.resolve();
      depart('away');
      moving?.resolve();
      moving = undefined;
      shared.close();
      await done;
    },
  };
}

/** Says words to the other pods. Those that come while others are on their way go together: many callers come back at once. */
function createSpeech(shared: Pick<SharedLog, 'say'>): (word: Word) => void {
  const unsaid: Word[] = [];
  let isSaying = false;
  async function sayAll(): Promise<void> {
    isSaying = true;
    while (unsaid.length > 0) await shared.say(unsaid.splice(0, WORDS_AT_ONCE));
    isSaying = false;
  }
  return (word) => {
    unsaid.push(word);
    if (!isSaying) void sayAll();
  };
}

/** A log whose records have no hole. Without the records of before it is cut. */
function beginningOf(
  { epoch, newest, droppedAgeMs, cutAgeMs }: SharedBeginning,
  records: readonly TimedRecord[],
  { nowMs, recordedMs }: { readonly nowMs: number; readonly recordedMs: number },
): LevelsBeginning {
  const numberAt = (at: number): number => records[at]!.record.number;
  let first = Math.max(records.length - 1, 0);
  while (first > 0 && numberAt(first - 1) === numberAt(first) - 1) first--;
  const isCut = first > 0 || (records.length === 0 && newest > 0);
  // A pod with a shorter time of records removed one that this pod needs.
  const isEarly = droppedAgeMs !== null && droppedAgeMs < recordedMs;
  const cutMs = Math.min(cutAgeMs ?? Infinity, isEarly ? droppedAgeMs : Infinity);
  return {
    epoch,
    newest: records.at(-1)?.record.number ?? newest,
    records: records.slice(first),
    droppedMs: nowMs - (droppedAgeMs ?? 0),
    cutMs: isCut ? nowMs : nowMs - cutMs,
  };
}
