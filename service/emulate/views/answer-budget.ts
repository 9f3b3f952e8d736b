import { DecodeError } from '#service/decode/errors.ts';
import { ReadBudget } from '#service/decode/read-budget.ts';
import { V3Error } from '#service/v3/request/errors.ts';
import { bytesOfContents, type MessageView } from '#service/v3/views/message-views.ts';

/**
 * Bytes of bodies, states, code and data in one answer. 256 messages may share a body of 400 KiB, which each of them shows. The largest
 * traces of 256 usual transactions have a twentieth.
 */
const ANSWER_MEBIBYTES = 16;
const ANSWER_BYTES_MAX = ANSWER_MEBIBYTES * 1024 * 1024;

/** Cells of code and data, at two steps each. An account has at most 65,536 cells. */
const CELL_STEPS_MAX = 1_000_000;

/** Depth of cells of an account. */
const DEPTH_MAX = 1024;

/** The budget of one answer. */
export function createAnswerBudget(): ReadBudget {
  return new ReadBudget({
    steps: CELL_STEPS_MAX,
    bytes: ANSWER_BYTES_MAX,
    output: ANSWER_BYTES_MAX,
    depth: DEPTH_MAX,
  });
}

/** Takes the parts of a message whose size a contract chose. Throws DecodeError `too_big`. */
export function takeMessage(budget: ReadBudget, message: MessageView): void {
  budget.write(bytesOfContents(message));
}

/** Converts a spent budget to the refusal of the answer. */
export function refuseTooLarge(error: unknown, budget: ReadBudget): unknown {
  if (!(error instanceof DecodeError) || !budget.isSpent) return error;
  return new V3Error('answer_too_large', `the answer is larger than ${ANSWER_MEBIBYTES} MiB`);
}
