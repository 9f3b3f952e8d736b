import type { Cluster, Redis } from 'ioredis';
import type { Logger } from 'pino';

/** Client of a Redis or a cluster, with the same commands. */
export type RedisClient = Redis | Cluster;

/** Connection to a Redis that the pool can do without. The pool goes on without late answers. */
export type BoundedRedis = {
  /**
   * Returns the command's answer. Undefined when Redis is unavailable or busy, refused the command, or took longer than `timeoutMs`. Never rejects.
   */
  ask<T>(command: (client: RedisClient) => Promise<T>, timeoutMs: number): Promise<T | undefined>;
  /** Returns false once Redis is gone or was late several times in a row, until it answers quickly again. */
  readonly isHere: () => boolean;
  close(): void;
};

/** Consecutive late answers that make Redis unavailable. One may be a pause of this process. */
const LATE_MAX = 3;

/** Milliseconds between probes while Redis is unavailable. No other command is sent then, and no request waits. */
const PROBE_MS = 250;

/** Milliseconds without an answer to a probe after which the connection is replaced. */
const LOST_MS = 2_000;

/** Most commands in flight. Further commands are skipped, so that a slow Redis cannot pile up memory. */
const ASKED_MAX = 512;

export type BoundedRedisOptions = {
  /** Purpose of Redis, for the log. */
  readonly use: string;
  /** Milliseconds in which a probe must be answered to make Redis available. */
  readonly quickMs: number;
};

/** Creates a link over a client that queues no command and sends none twice. The client is closed with the link. */
export function createBoundedRedis(
  options: BoundedRedisOptions,
  { client, logger }: { client: RedisClient; logger: Logger },
): BoundedRedis {
  let here = false;
  let closed = false;
  let late = 0;
  let asked = 0;
  let probeSinceMs: number | undefined;

  function become(next: boolean): void {
    late = 0;
    if (here === next) return;
    here = next;
    if (next) logger.info({ use: options.use }, 'redis of the pool is here');
    else if (!closed) logger.warn({ use: options.use }, 'redis of the pool is away and done without');
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
      // The connection is gone; the client replaces it.
    }
    probeSinceMs = undefined;
  }

  const ticker = setInterval(() => void probe(), PROBE_MS);
  client.on('ready', () => void probe());
  client.on('close', () => {
    probeSinceMs = undefined;
    become(false);
  });
  // Without a listener the client would print the error. `become` logs its meaning.
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
      // Answers that arrived while this process was busy are read before any counts as late.
      const timer = setTimeout(() => setImmediate(() => setImmediate(onTimeout)), timeoutMs);
      try {
        return await Promise.race([answer, timeout]);
      } finally {
        isOver = true;
        clearTimeout(timer);
      }
    },
    close() {
      closed = true;
      clearInterval(ticker);
      client.disconnect();
    },
  };
}

/** Returns true for the answer to a command on a key of another type. */
export function isWrongType(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('WRONGTYPE');
}
