import { ContractError } from './errors.ts';

/** Bytes that an answer may still have. */
export type AnswerSize = {
  /** Bytes at the beginning. */
  readonly bytesMax: number;
  /** Takes bytes of JSON, as soon as they are known. @throws ContractError `answer_too_large` */
  readonly take: (bytes: number) => void;
};

const MEBIBYTE = 1024 * 1024;

/**
 * Size of one answer whose parts contracts chose. A message has a bag of up to some 300 KiB, and each of the 255 messages of a transaction may
 * show the same bag.
 */
export function createAnswerSize({ mebibytes }: { readonly mebibytes: number }): AnswerSize {
  const bytesMax = mebibytes * MEBIBYTE;
  let left = bytesMax;
  return {
    bytesMax,
    take(bytes) {
      left -= bytes;
      if (left >= 0) return;
      throw new ContractError('answer_too_large', `the answer is larger than ${mebibytes} MiB: ask for less`);
    },
  };
}
