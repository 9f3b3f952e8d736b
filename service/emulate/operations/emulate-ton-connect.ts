import { defineOperation } from '#service/contract/operation.ts';
import { readExternalMessage } from '#service/live/send/external-message.ts';
import { createTimeSlice } from '#service/runtime/time-slice.ts';
import type { V3Request } from '#service/v3/request/operation.ts';
import { account } from '#service/v3/request/parameters.ts';
import { required } from '#service/v3/request/required-parameters.ts';
import type { EmulateOperation } from '../emulate.ts';
import { tonConnectMessages } from '../request/ton-connect-messages.ts';
import { traceParameters } from '../request/trace-parameters.ts';
import { defaultValidUntil, validUntil } from '../request/valid-until.ts';
import { readSigningWallet } from '../ton-connect/signing-wallet.ts';
import { unsignedMessage } from '../ton-connect/unsigned-message.ts';
import type { TraceAnswers } from '../trace-answers.ts';
import { emulateTraceResponse } from '../views/trace-response.ts';

/** Runs the message that a wallet would sign for a request (service/emulate/README.md#emulatetonconnect). */
export function emulateTonConnectOperation(answers: TraceAnswers): EmulateOperation {
  return defineOperation({
    name: 'emulateTonConnect',
    methods: ['POST'],
    tag: 'emulate',
    summary: 'Runs the message that a wallet would sign for a TON Connect request, without its signature.',
    parameters: {
      from: required(account('from'), 'from address is required for emulation'),
      messages: tonConnectMessages,
      validUntil,
      ...traceParameters,
    },
    result: emulateTraceResponse,
    handle: ({ from, messages, validUntil: until, ...values }, context: V3Request) =>
      answers.answer(values, context, async ({ block, readAccount }) => {
        const timeSlice = createTimeSlice(context.signal);
        const wallet = await readSigningWallet(from, await readAccount(from), timeSlice);
        const request = { messages, validUntil: until ?? defaultValidUntil(block.utime) };
        const unsigned = await unsignedMessage(wallet, request, timeSlice);
        await timeSlice.pause();
        const message = readExternalMessage(unsigned);
        return { message: { ...message, isInternal: false }, ignoreSignature: true };
      }),
  });
}
