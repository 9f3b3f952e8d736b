import { createHash } from 'node:crypto';

import type { ZeroStateId } from '../head.ts';
import type { RedisLink } from './link.ts';

/**
 * The cache that all pods of a network share: answers of lite servers to immutable reads, as they came. What it gives back is
 * no more than the word of a lite server: it is checked again before it is used.
 */
export type SharedAnswers = {
  /** The answer kept for a function's bytes; undefined when there is none or Redis does not say so in time. */
  read(request: Buffer): Promise<Buffer | undefined>;
  /** Keeps an answer; nobody waits for it. */
  write(request: Buffer, answer: Buffer): void;
  /** Takes out one whose check failed. */
  drop(request: Buffer): void;
};

/** Changes with the form of what is kept: pods of two releases do not read each other's. */
const FORM = 1;

/** A Redis beside the pods answers in 1 ms; a lite server in 10 to 100 ms. Waiting longer would cost more than a hit gives. */
export const ANSWER_MS = 5;

/** An answer is read mostly while its block is new; Redis drops it after this long. */
const KEPT_SECONDS = 600;

/** Larger answers are rare, and would fill Redis and its line. */
const ANSWER_BYTES_MAX = 256 * 1024;

/** @param zeroState names the network: several may share one Redis */
export function createSharedAnswers(zeroState: ZeroStateId, link: RedisLink): SharedAnswers {
  const prefix = `ton:answer:${FORM}:${zeroState.rootHash.toString('hex').slice(0, 16)}:`;
  const keyOf = (request: Buffer): string => prefix + createHash('sha256').update(request).digest('base64url');

  return {
    async read(request) {
      const key = keyOf(request);
      return (await link.ask((client) => client.getBuffer(key), ANSWER_MS)) ?? undefined;
    },
    write(request, answer) {
      if (answer.length > ANSWER_BYTES_MAX) return;
      const key = keyOf(request);
      void link.ask((client) => client.set(key, answer, 'EX', KEPT_SECONDS), ANSWER_MS);
    },
    drop(request) {
      const key = keyOf(request);
      void link.ask((client) => client.del(key), ANSWER_MS);
    },
  };
}
