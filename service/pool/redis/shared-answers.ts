import { createHash } from 'node:crypto';

import type { ZeroStateId } from '../head.ts';
import { isWrongType, type BoundedRedis } from './bounded-redis.ts';

/**
 * Cache shared by all pods of a network: answers of lite servers to immutable reads, as received. A cached answer is no more trusted than a lite
 * server. It is checked again before use.
 */
export type SharedAnswers = {
  /** Returns the cached answer for a function's bytes; undefined when there is none or Redis is late. */
  read(request: Buffer): Promise<Buffer | undefined>;
  /** Caches an answer; no caller waits for it. */
  write(request: Buffer, answer: Buffer): void;
  /** Removes an answer whose check failed. */
  drop(request: Buffer): void;
};

/** Version of the cached form, so that pods of two releases do not read each other's answers. */
const FORM = 1;

/** Seconds until Redis drops an answer. It is read mostly while its block is new. */
const KEPT_SECONDS = 600;

/** Most bytes of an answer. Larger ones are rare, and would fill Redis and its line. */
const ANSWER_BYTES_MAX = 256 * 1024;

export type SharedAnswersOptions = {
  /** Identifies the network, because several may share one Redis. */
  readonly zeroState: ZeroStateId;
  /** Milliseconds that a read waits for an answer, or for the report that there is none. */
  readonly answerMs: number;
};

export function createSharedAnswers(
  { zeroState, answerMs }: SharedAnswersOptions,
  { link, onMalformed }: { readonly link: BoundedRedis; readonly onMalformed: () => void },
): SharedAnswers {
  const prefix = `ton:answer:${FORM}:${zeroState.rootHash.toString('hex').slice(0, 16)}:`;
  const keyOf = (request: Buffer): string => prefix + createHash('sha256').update(request).digest('base64url');

  const noText = (error: unknown): null => {
    if (!isWrongType(error)) throw error;
    onMalformed();
    return null;
  };

  return {
    async read(request) {
      const key = keyOf(request);
      return (await link.ask((client) => client.getBuffer(key).catch(noText), answerMs)) ?? undefined;
    },
    write(request, answer) {
      if (answer.length > ANSWER_BYTES_MAX) return;
      const key = keyOf(request);
      void link.ask((client) => client.set(key, answer, 'EX', KEPT_SECONDS), answerMs);
    },
    drop(request) {
      const key = keyOf(request);
      void link.ask((client) => client.del(key), answerMs);
    },
  };
}
