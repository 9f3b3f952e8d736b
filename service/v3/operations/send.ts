import { bytes } from '#service/contract/boc-parameter.ts';
import { mapAnswer } from '#service/contract/operation.ts';
import { named, object, optional } from '#service/contract/shape.ts';
import type { LiveSend } from '#service/live/send/send.ts';
import { defineLiveOperation } from '../request/live-operation.ts';
import type { V3Operation } from '../request/operation.ts';
import { hash, viewBytes } from '../request/scalars.ts';

const result = named(
  'V2SendMessageResult',
  object({ message_hash: optional(hash), message_hash_norm: optional(hash) }),
);

/** Sends messages from outside, and returns their hashes (service/v3/README.md#operations-at-the-head). */
export function sendOperations(send: LiveSend): readonly V3Operation[] {
  return [
    defineLiveOperation({
      name: 'message',
      methods: ['POST'],
      summary: 'Sends a message from outside and returns its hashes.',
      parameters: { boc: bytes('boc', 'boc is required') },
      result,
      handle: async ({ boc }, context) =>
        mapAnswer(await send.send(boc, context), (message) => ({
          message_hash: viewBytes(message.hash),
          message_hash_norm: viewBytes(message.normalizedHash),
        })),
    }),
  ];
}
