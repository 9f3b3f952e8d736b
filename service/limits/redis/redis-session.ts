import type { Logger } from 'pino';

import type { RedisMetrics } from '../metrics.ts';
import { connectRedis, untrustedRedis, type Connection, type RedisServer } from './connection.ts';
import { createPendingAnswers, SLOW_MS } from './pending-answers.ts';
import {
  createScriptBatcher,
  evaluate,
  failureOf,
  isReply,
  scriptOf,
  type ScriptBatcher,
  type SharedScript,
} from './script-batcher.ts';
import { createRevocationReader, type RevocationReaderDependencies } from './revocation-reader.ts';
import { revocationKeys } from './revocation-set.ts';
import { presenceScript } from './script.ts';
import { createEventLoopStalls, type Mark } from './event-loop-stalls.ts';

/** Redis shared by all pods, and whether it is reliable now. */
export type RedisSession = {
  /** False from a failed or slow query until two probes in a row are quick. */
  readonly here: boolean;
  /** Pods seen within the last seconds, at least 1. */
  readonly pods: number;
  /**
   * Reports whether a key is revoked. A revocation ends when the key is in force again or no keyring has had it for a day. An id that Redis has
   * lost stays revoked until then, or until this process ends.
   */
  readonly isRevoked: (keyId: string) => boolean;
  /** Returns a batch of queries by one script. A query rejects when the store is unavailable or slow. */
  questions(script: SharedScript): ScriptBatcher;
  /** Returns the fields of a hash. Rejects like a query. */
  fields(key: string): Promise<Readonly<Record<string, string>>>;
  /** Switches to another server, for example after a change of password or authority. The store is unavailable until it answers. */
  readonly setServer: (server: RedisServer) => void;
  close(): Promise<void>;
};

export type RedisSessionOptions = RedisServer & {
  /** Scope of the TonApi, because several may share one Redis. */
  readonly api: string;
  /** Id of this process among the pods of the API. */
  readonly pod: string;
};

export type RedisSessionDependencies = Pick<RevocationReaderDependencies, 'inKeyring'> & {
  readonly logger: Logger;
  readonly metrics: RedisMetrics;
  /** Random number in 0..1, so that pods do not all return at once. */
  readonly random: () => number;
};

/** Milliseconds between checks for late answers. */
const watchMs = SLOW_MS / 4;

/** Milliseconds between probes. Together with `SLOW_MS` a frozen Redis is detected within 0.3 s, and its return within 0.6 s. */
const PROBE_MS = 200;

/** Probes between reads of presence and revocations. A revoked key is refused everywhere within 1.2 s. */
const ROUND_PROBES = 5;

/** Milliseconds after which a missing answer will not come, so the connection is replaced. */
const LOST_MS = 2000;

/** Counts of pods whose maximum holds. A Redis that lost its data hears from each pod within a second. */
const COUNTS_KEPT = 5;

/** Quick probes in a row that make the store available again. */
const QUICK_PROBES_MIN = 2;

export function createRedisSession(options: RedisSessionOptions, dependencies: RedisSessionDependencies): RedisSession {
  const { logger, metrics, random } = dependencies;
  const presence = scriptOf(presenceScript);
  const podsKey = revocationKeys(options.api).pods;
  const revocations = createRevocationReader(options.api, dependencies);
  const stalls = createEventLoopStalls(watchMs);
  const pending = createPendingAnswers({ stalls, metrics, onFailed: (why) => leave(why) });
  let here = false;
  let pods = 1;
  let counts: number[] = [];
  let quick = 0;
  let rounds = 0;
  let probe: Mark | undefined;
  let closed = false;

  const leave = (why: string): void => {
    quick = 0;
    pending.failAll(why);
    if (!here) return;
    here = false;
    metrics.away(1);
    if (!closed) logger.warn({ why }, 'redis is away: limits follow onRedisFailure');
  };

  const comeBack = (): void => {
    if (here || closed) return;
    here = true;
    metrics.away(0);
    logger.info({ pods }, 'redis is here: limits are shared');
  };

  const watch = setInterval(() => {
    stalls.tick();
    if (pending.isLate()) afterReading(() => pending.isLate() && leave('slow'));
  }, watchMs);

  const fields = async (key: string): Promise<Readonly<Record<string, string>>> => {
    try {
      return await pending.add(client.hgetall(key));
    } catch (error) {
      if (!isReply(error, 'WRONGTYPE')) throw error;
      metrics.malformed('usage');
      return {};
    }
  };

  /** Registers this pod and counts the pods. Returns when Redis began to hold its data. */
  const present = async (): Promise<string> => {
    const answer = await evaluate(client, presence, [podsKey], [options.pod]);
    const [count, since, wrong] = answer as readonly [number, string, number];
    if (wrong === 1) metrics.malformed('pods');
    counts = [count, ...counts].slice(0, COUNTS_KEPT);
    pods = Math.max(1, ...counts);
    return since;
  };

  const probeNow = async (): Promise<void> => {
    if (probe !== undefined) {
      const asked = probe;
      if (stalls.since(asked) > SLOW_MS) afterReading(() => probe === asked && leave('slow'));
      if (stalls.since(asked) > LOST_MS && client.status === 'ready') {
        probe = undefined;
        client.disconnect(true);
      }
      return;
    }
    if (client.status !== 'ready') {
      leave('no connection');
      return;
    }
    const asked = (probe = stalls.mark());
    try {
      await (rounds++ % ROUND_PROBES === 0 || !here ? revocations.read(client, present) : client.ping());
      if (stalls.since(asked) > SLOW_MS) leave('slow');
      else if (++quick >= QUICK_PROBES_MIN) comeBack();
    } catch (error) {
      leave(failureOf(error));
    } finally {
      probe = undefined;
    }
  };

  const ticker = setInterval(() => void probeNow(), PROBE_MS);
  const connect = (server: RedisServer): Connection => {
    const made = connectRedis({ ...server, retryMs: () => 100 + random() * 200 });
    made.on('ready', () => {
      // A new connection is a good probe, so a start does not wait for two.
      quick = 1;
      void probeNow();
    });
    made.on('close', () => {
      if (made !== client) return;
      probe = undefined;
      leave('connection closed');
    });
    // Each try fails with the same error, so the error is logged once for a connection.
    let reported: string | undefined;
    made.on('error', (error) => {
      const why = untrustedRedis(error);
      if (why === undefined || why === reported) return;
      reported = why;
      logger.error({ why }, 'the certificate of redis is refused');
    });
    return made;
  };
  let client = connect(options);
  metrics.away(1);

  return {
    get here() {
      return here;
    },
    get pods() {
      return pods;
    },
    isRevoked: revocations.has,
    questions(script) {
      const { ask } = createScriptBatcher(script, () => client, pending.add);
      return { ask: (key, argument) => (here ? ask(key, argument) : away()) };
    },
    fields: (key) => (here ? fields(key) : away()),
    setServer(server) {
      const old = client;
      client = connect(server);
      probe = undefined;
      leave('another server');
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

/** Reads answers that arrived while this process was busy, before any counts as late. */
function afterReading(act: () => void): void {
  setImmediate(() => setImmediate(act));
}
