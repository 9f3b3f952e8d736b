import type { Logger } from 'pino';

import { revokedSet } from '../keys.ts';
import type { RedisMetrics } from '../metrics.ts';
import { connectRedis, type Connection } from './connection.ts';
import { createQuestions, evaluate, isReply, scriptOf, type Questions, type SharedScript } from './questions.ts';
import { presenceScript } from './script.ts';

/** The Redis that all pods share, and whether it can be relied on now. */
export type Store = {
  /** False from the moment a question failed or took too long until two probes in a row were quick. */
  readonly here: boolean;
  /** Pods seen within the last seconds of the store's presence; at least 1. */
  readonly pods: number;
  /** Ids of keys that were revoked; final for as long as this process runs. */
  readonly isRevoked: (keyId: string) => boolean;
  /** A way to ask by one script; what is asked rejects when the store is away or takes too long. */
  questions(script: SharedScript): Questions;
  /** Fields of a hash; rejects as a question. */
  fields(key: string): Promise<Readonly<Record<string, string>>>;
  /** Goes on with another URL, as when a password has changed; away until that answers. */
  readonly setUrl: (url: string) => void;
  close(): Promise<void>;
};

export type StoreOptions = {
  /** As `redisUrlProblem` has it; holds a password: never logged. */
  readonly url: string;
  /** Name of the TonApi: keys of several may be in one Redis. */
  readonly api: string;
  /** This process, among those of the API. */
  readonly pod: string;
};

export type StoreDependencies = {
  readonly logger: Logger;
  readonly metrics: RedisMetrics;
  /** 0..1: pods must not all come back at once. */
  readonly random: () => number;
};

/** A Redis in the same cluster answers within a millisecond; one that takes longer than this costs requests more than it gives. */
const slowMs = 100;

/** With the time to be slow this finds a frozen Redis within 0.3 s, and one that is back within 0.6 s. */
const probeMs = 200;

/** Presence and revocations are looked at with every fifth probe: a revoked key is known everywhere within 1.2 s. */
const roundProbes = 5;

/** An answer that is missing for so long will not come: the connection is made anew. */
const lostMs = 2000;

/** A Redis that has forgotten the pods hears of each within a second: the highest of the last counts holds. */
const countsKept = 5;

/** Quick probes in a row that bring the store back. */
const quickProbesMin = 2;

type Pending = { readonly sentMs: number; readonly fail: (error: Error) => void };

export function createStore(options: StoreOptions, { logger, metrics, random }: StoreDependencies): Store {
  const presence = scriptOf(presenceScript);
  const podsKey = `pods:${options.api}`;
  const revokedKey = revokedSet(options.api);
  const revoked = new Set<string>();
  const pending = new Set<Pending>();
  let here = false;
  let pods = 1;
  let counts: number[] = [];
  let quick = 0;
  let rounds = 0;
  let probeSentMs = 0;
  let closed = false;

  const leave = (why: string): void => {
    quick = 0;
    for (const { fail } of pending) fail(new Error(why));
    pending.clear();
    if (!here) return;
    here = false;
    metrics.away(1);
    logger.warn({ why }, 'redis is away: limits follow onRedisFailure');
  };

  const comeBack = (): void => {
    if (here || closed) return;
    here = true;
    metrics.away(0);
    logger.info({ pods }, 'redis is here: limits are shared');
  };

  /** Holds an answer to its time. Its failure is that of the store. */
  const timely = <T>(answer: Promise<T>): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const entry: Pending = { sentMs: performance.now(), fail: reject };
    pending.add(entry);
    void follow(answer, entry).then(resolve, reject);
    return promise;
  };

  const follow = async <T>(answer: Promise<T>, entry: Pending): Promise<T> => {
    const seconds = (): number => (performance.now() - entry.sentMs) / 1000;
    try {
      const value = await answer;
      metrics.roundTrip('answered', seconds());
      return value;
    } catch (error) {
      metrics.roundTrip('failed', seconds());
      // Told by a server that is there and well.
      if (isReply(error, 'CROSSSLOT')) throw error;
      if (pending.has(entry)) leave(error instanceof Error ? error.name : 'failed');
      throw error;
    } finally {
      pending.delete(entry);
    }
  };

  const isLate = (): boolean => {
    const [oldest] = pending;
    return oldest !== undefined && performance.now() - oldest.sentMs > slowMs;
  };

  const watch = setInterval(() => {
    if (isLate()) afterReading(() => isLate() && leave('slow'));
  }, slowMs / 4);

  /** What every pod does once a second: says it is there, counts the others, learns what was revoked. */
  const round = async (): Promise<void> => {
    const [count, ids] = await Promise.all([
      evaluate(client, presence, [podsKey], [options.pod]),
      client.smembers(revokedKey),
    ]);
    counts = [Number(count), ...counts].slice(0, countsKept);
    pods = Math.max(1, ...counts);
    for (const id of ids) {
      if (revoked.has(id)) continue;
      revoked.add(id);
      metrics.revoked();
    }
  };

  const probe = async (): Promise<void> => {
    const nowMs = performance.now();
    if (probeSentMs !== 0) {
      const sentMs = probeSentMs;
      if (nowMs - sentMs > slowMs) afterReading(() => probeSentMs === sentMs && leave('slow'));
      if (nowMs - probeSentMs > lostMs && client.status === 'ready') {
        probeSentMs = 0;
        client.disconnect(true);
      }
      return;
    }
    if (client.status !== 'ready') {
      leave('no connection');
      return;
    }
    probeSentMs = nowMs;
    try {
      await (rounds++ % roundProbes === 0 || !here ? round() : client.ping());
      if (performance.now() - nowMs > slowMs) leave('slow');
      else if (++quick >= quickProbesMin) comeBack();
    } catch (error) {
      leave(error instanceof Error ? error.name : 'failed');
    } finally {
      probeSentMs = 0;
    }
  };

  const ticker = setInterval(() => void probe(), probeMs);
  const connect = (url: string): Connection => {
    const made = connectRedis({ url, retryMs: () => 100 + random() * 200 });
    made.on('ready', () => {
      // A new connection is a good probe: a start does not wait for two.
      quick = 1;
      void probe();
    });
    made.on('close', () => {
      if (made !== client) return;
      probeSentMs = 0;
      leave('connection closed');
    });
    // Told by `leave`; without a listener the client would print it.
    made.on('error', () => undefined);
    return made;
  };
  let client = connect(options.url);
  metrics.away(1);

  return {
    get here() {
      return here;
    },
    get pods() {
      return pods;
    },
    isRevoked: (keyId) => revoked.has(keyId),
    questions(script) {
      const { ask } = createQuestions(script, () => client, timely);
      return { ask: (key, argument) => (here ? ask(key, argument) : away()) };
    },
    fields: (key) => (here ? timely(client.hgetall(key)) : away()),
    setUrl(url) {
      const old = client;
      client = connect(url);
      probeSentMs = 0;
      leave('another URL');
      old.disconnect();
    },
    close() {
      closed = true;
      clearInterval(ticker);
      clearInterval(watch);
      leave('closed');
      client.disconnect();
      return Promise.resolve();
    },
  };
}

function away(): Promise<never> {
  return Promise.reject(new Error('redis is away'));
}

/** What has arrived while this process was busy is read before anything is called late. */
function afterReading(act: () => void): void {
  setImmediate(() => setImmediate(act));
}
