import type { ExternalMessage } from '../live/send/external-message.ts';
import type { LiveSend } from '../live/send/send.ts';
import { bytes } from '../contract/boc-parameter.ts';
import { defineOperation, mapAnswer, type Operation, type OperationDefinition } from '../contract/operation.ts';
import { hash } from './scalars.ts';
import { constant, named, object, type Infer, type Shape } from '../contract/shape.ts';
import { viewHash } from './views.ts';

export const done = named('Ok', object({ '@type': constant('ok') }));

const extMessageInfo = named(
  'ExtMessageInfo',
  object({ '@type': constant('raw.extMessageInfo'), hash, hash_norm: hash }),
);

export function viewExtMessageInfo(message: ExternalMessage): Infer<typeof extMessageInfo> {
  return {
    '@type': 'raw.extMessageInfo',
    hash: viewHash(message.hash),
    hash_norm: viewHash(message.normalizedHash),
  };
}

/** The bag of cells that a send operation takes. */
export const boc = bytes('boc', 'empty boc');

const sendParameters = { boc };

/** Operations that send an external message, by POST only (service/v2/README.md#sending). */
export function sendOperations(live: LiveSend): readonly Operation[] {
  const sending = <R>(
    name: string,
    summary: string,
    result: Shape<R>,
    view: (message: ExternalMessage) => R,
    more: Pick<OperationDefinition<typeof sendParameters, R>, 'refusalStatus'> = {},
  ): Operation =>
    defineOperation({
      name,
      methods: ['POST'],
      tag: 'send',
      summary,
      parameters: sendParameters,
      result,
      handle: async (values, context) => mapAnswer(await live.send(values.boc, context), view),
      ...more,
    });
  return [
    sending('sendBoc', 'Sends a message.', done, () => ({ '@type': 'ok' })),
    sending('sendBocReturnHash', 'Sends a message and returns its hashes.', extMessageInfo, viewExtMessageInfo),
    sending(
      'sendBocReturnHashNoError',
      'As sendBocReturnHash; a message that is refused is answered with status 400.',
      extMessageInfo,
      viewExtMessageInfo,
      { refusalStatus: 400 },
    ),
  ];
}
