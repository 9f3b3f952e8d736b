import type { RawJson } from '#service/contract/json-stream.ts';
import { list, named, object, type Shape } from '#service/contract/shape.ts';
import { findMessages, messageOrder } from '#service/store/queries/messages.ts';
import { answerAnnotations, type AnswerAnnotations } from '../annotations/answer-annotations.ts';
import { readPage } from '../request/cursor.ts';
import { message, type MessageView } from '../views/message-views.ts';
import type { MessageRenderer } from '../rendering/message-renderer.ts';
import { defineV3Operation, type V3Operation } from '../request/operation.ts';
import { bool, hash, hashes, cursorPaging, nullableAccount, opcode, windows } from '../request/parameters.ts';
import { direction } from './transactions.ts';

/** A message, written already or not. */
const writtenMessage: Shape<MessageView | RawJson<MessageView>> = message;

const messagesResponse = named('MessagesResponse', object({ messages: list(writtenMessage), ...answerAnnotations }));

export type MessageOperationsDependencies = {
  readonly notes: Pick<AnswerAnnotations, 'notesOf'>;
  readonly writer: MessageRenderer;
};

/** The operation about messages (service/v3/README.md#chain-operations). */
export function messageOperations({ notes, writer }: MessageOperationsDependencies): readonly V3Operation[] {
  return [
    defineV3Operation({
      name: 'messages',
      tag: 'blockchain',
      summary: 'Messages that match all filters, each once.',
      parameters: {
        hashes: hashes('msg_hash'),
        hash: hash('hash'),
        bodyHash: hash('body_hash'),
        source: nullableAccount('source'),
        destination: nullableAccount('destination'),
        opcode: opcode('opcode'),
        excludeExternals: bool('exclude_externals'),
        onlyExternals: bool('only_externals'),
        direction,
        ...windows,
        ...cursorPaging,
      },
      result: messagesResponse,
      flat: true,
      handle: async ({ hash: single, ...values }, context) => {
        const given = values.hashes.length > 0 || single === undefined ? values.hashes : [single];
        const order = { list: 'messages', order: messageOrder(values, values) };
        const rows = await readPage(order, values, context, (after) =>
          findMessages(context.store, { ...values, hashes: given }, { ...values, after }),
        );
        const opened = await writer.open(rows, context.store);
        const [messages, annotations] = await Promise.all([opened.write(), notes.notesOf(opened.ends, context)]);
        return { messages, ...annotations };
      },
    }),
  ];
}
