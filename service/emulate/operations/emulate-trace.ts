import { defineOperation } from '#service/contract/operation.ts';
import { readExternalMessage, readIncomingMessage, type IncomingMessage } from '#service/live/send/external-message.ts';
import type { V3Request } from '#service/v3/request/operation.ts';
import type { EmulateOperation } from '../emulate.ts';
import { ignoreSignatures, messageBoc, traceParameters } from '../request/trace-parameters.ts';
import type { TraceAnswers } from '../trace-answers.ts';
import { emulateTraceResponse } from '../views/trace-response.ts';

/** Runs a message of the caller (service/emulate/README.md#emulatetrace). */
export function emulateTraceOperation(answers: TraceAnswers): EmulateOperation {
  return defineOperation({
    name: 'emulateTrace',
    methods: ['POST'],
    tag: 'emulate',
    summary: 'Runs a message from outside, and every message that it leads to, without sending the message.',
    parameters: { boc: messageBoc, ignoreSignature: ignoreSignatures, ...traceParameters },
    result: emulateTraceResponse,
    handle: ({ boc, ignoreSignature, ...values }, context: V3Request) =>
      answers.answer(values, context, () => ({ message: readMessage(boc, ignoreSignature), ignoreSignature })),
  });
}

/** Throws LiveError `bad_message`. */
function readMessage(boc: Buffer, isInternalTaken: boolean): IncomingMessage {
  return isInternalTaken ? readIncomingMessage(boc) : { ...readExternalMessage(boc), isInternal: false };
}
