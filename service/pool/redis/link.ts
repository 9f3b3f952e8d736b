import type { Cluster, Redis } from 'ioredis';
import type { Logger } from 'pino';

/** A Redis or a cluster, behind the same commands. */
export type RedisClient = Redis | Cluster;

/** A connection to a Redis that the pool can do without: what it does not answer in time is done without. */
export type RedisLink = {
  /**
   * The command's answer; undefined when Redis is away or busy, refused the command, or took longer than `timeoutMs`. Never
   * rejects.
   */
  ask<T>(command: (client: RedisClient) => Promise<T>, timeoutMs: number): Promise<T | undefined>;
  /** False from the moment Redis is gone or was late several times in a row until it answers quickly again. */
  readonly isHere: () => boolean;
  close(): void;
};

/** Late answers in a row that make Redis count as away: one may be this process' own pause. */
const LATE_MAX = 3;

/** While Redis is away nothing but a probe is sent to it, this often; no request waits for it. */
const PROBE_MS = 250;

/** A connection that has left a probe unanswered for this long is made anew. */
const LOST_MS = 2_000;

/** Questions at a time: what comes beyond is done without Redis, so that a slow one cannot pile up memory. */
const ASKED_MAX = 512;

export type RedisLinkOptions = {
  /** What Redis is needed for, for the log. */
  readonly use: string;
  /** A probe that is answered within this brings Redis back. */
  readonly quickMs: number;
};

/** Takes over a client that keeps no question for later and sends none twice: it is closed with the link. */
export function createRedisLink(
  options: RedisLinkOptions,
  { client, logger }: { client: RedisClient; logger: Logger },
): RedisLink {
  let here = false;
  let late = 0;
  let asked = 0;
  let probeSinceMs: number | undefined;

  function become(next: boolean): void {
    late = 0;
    if (here === next) return;
    here = next;
    if (next) logger.info({ use: options.use }, 'redis of the pool is here');
    else logger.warn({ use: options.use }, 'redis of the pool is away and done without');
  }

  async function probe(): Promise<void> {
    if (here || client.status !== 'ready') return;
    const nowMs = performance.now();
    if (probeSinceMs !== undefined) {
      if (nowMs - probeSinceMs > LOST_MS) client.disconnect(true);
      return;
    }
    probeSinceMs = nowMs;
    try {
      await client.ping();
      if (performance.now() - nowMs <= options.quickMs) become(true);
    } catch {
      // The connection is gone, and is made anew by the client.
    }
    probeSinceMs = undefined;
  }

  const ticker = setInterval(() => void probe(), PROBE_MS);
  client.on('ready', () => void probe());
  client.on('close', () => {
    probeSinceMs = undefined;
    become(false);
  });
  // Without a listener the client would print it; what it means is told by `become`.
  client.on('error', () => undefined);

  return {
    isHere: () => here,
    async ask(command, timeoutMs) {
      if (!here || asked >= ASKED_MAX) return undefined;
      asked += 1;
      const answer = command(client).then(
        (value) => {
          late = 0;
          return value;
        },
        () => undefined,
      );
      void answer.then(() => (asked -= 1));
      const { promise: timeout, resolve } = Promise.withResolvers<undefined>();
      let isOver = false;
      const onTimeout = (): void => {
        if (isOver) return;
        late += 1;
        if (late >= LATE_MAX) become(false);
        resolve(undefined);
      };
      // What has arrived while this process was busy is read before anything is called late.
      const timer = setTimeout(() => setImmediate(() => setImmediate(onTimeout)), timeoutMs);
      try {
        return await Promise.race([answer, timeout]);
      } finally {
        isOver = true;
        clearTimeout(timer);
      }
    },
    close() {
      clearInterval(ticker);
      client.disconnect();
    },
  };
}

/** True for the answer to a command on a key of another type. */
export function isWrongType(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('WRONGTYPE');
}
