import { createHash } from 'node:crypto';

import type { ZeroStateId } from '../head.ts';
import { isWrongType, type RedisLink } from './link.ts';

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

/** An answer is read mostly while its block is new; Redis drops it after this long. */
const KEPT_SECONDS = 600;

/** Larger answers are rare, and would fill Redis and its line. */
const ANSWER_BYTES_MAX = 256 * 1024;

export type SharedAnswersOptions = {
  /** Names the network: several may share one Redis. */
  readonly zeroState: ZeroStateId;
  /** An answer, or the word that there is none, is waited for this long. */
  readonly answerMs: number;
};

export function createSharedAnswers(
  { zeroState, answerMs }: SharedAnswersOptions,
  { link, onMalformed }: { readonly link: RedisLink; readonly onMalformed: () => void },
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
