import type { Logger } from 'pino';

import { isRecord } from '../contract/record.ts';
import { createTimeSlice } from '../runtime/time-slice.ts';
import { closings } from './closing.ts';
import { StreamingError } from './errors.ts';
import { errorAnswer, pongAnswer, subscribedAnswer, unsubscribedAnswer } from './request/answers.ts';
import { createFields, readId } from './request/fields.ts';
import { readRemoval, readWish, wsWording } from './request/subscription.ts';
import type { Stream, StreamCaller } from './streams.ts';

/** Messages of one WebSocket. */
export type Messages = {
  /** Answers one message; never rejects. */
  readonly handle: (bytes: Buffer) => Promise<void>;
  readonly hasSubscribed: () => boolean;
  /** Resolves to false when the caller has all its connections. */
  readonly takePlace: () => Promise<boolean>;
  /** Ends the connection if it has no place. */
  readonly refusePlace: () => void;
};

export type MessagesDependencies = {
  readonly caller: StreamCaller;
  readonly stream: Stream;
  readonly send: (text: string) => void;
  readonly parseJson: (bytes: Uint8Array) => unknown;
  readonly logger: Logger;
};

/** Messages in a row that are no envelope. */
const ERRORS_MAX = 10;

/** Bytes of a message that costs no request. Addresses of 1 MiB take 70 ms to read. */
const FREE_BYTES_MAX = 16 * 1024;

/** Characters of an unknown operation that its error repeats. */
const OPERATION_QUOTED_MAX = 64;

const envelope = 'invalid request envelope';

type Envelope = {
  readonly source: Readonly<Record<string, unknown>>;
  readonly id: string | undefined;
  readonly operation: string;
  readonly bytes: number;
};

export function createMessages({ caller, stream, send, parseJson, logger }: MessagesDependencies): Messages {
  let errors = 0;
  let hasPlace = false;
  let subscribes = 0;
  let hasSubscribed = false;

  const takePlace = async (cursor: string | undefined): Promise<boolean> => {
    try {
      await stream.takePlace(cursor);
      hasPlace = true;
    } catch (error) {
      if (!(error instanceof StreamingError)) throw error;
    }
    return hasPlace;
  };

  const refusePlace = (): void => {
    if (hasPlace) return;
    send(errorAnswer(undefined, `connection limit reached: ${caller.terms.connections} active connections`));
    stream.end(closings.connectionLimit);
  };

  /** The opening of the connection pays for the first subscription. */
  const isPaid = ({ operation, bytes }: Envelope): boolean =>
    operation === 'subscribe' ? subscribes++ > 0 : bytes > FREE_BYTES_MAX;

  const subscribe = async ({ source, id }: Envelope): Promise<void> => {
    const { terms, actionsVersion } = caller;
    const wish = await readWish(source, {
      wording: wsWording,
      terms,
      actionsVersion,
      slice: createTimeSlice(undefined),
    });
    await stream.subscribe(wish.subscription, wish.cursor, (begun) => send(subscribedAnswer(id, begun)));
    hasSubscribed = true;
    // The hub has ended a connection of this process that the cursor names. Another pod learns of it by the lost place.
    if (wish.cursor !== undefined) await stream.takePlace(wish.cursor);
  };

  const unsubscribe = async ({ source, id }: Envelope): Promise<void> => {
    const { accounts, traces } = await readRemoval(source, createTimeSlice(undefined));
    stream.unsubscribe(accounts, traces);
    send(unsubscribedAnswer(id));
  };

  const run = async (message: Envelope): Promise<void> => {
    const { operation, id } = message;
    const refusal = isPaid(message) ? await caller.charge() : undefined;
    if (refusal !== undefined) return send(errorAnswer(id, refusal));
    if (operation === 'ping') return send(pongAnswer(id, stream.cursor()));
    if (operation === 'subscribe') return subscribe(message);
    if (operation === 'unsubscribe') return unsubscribe(message);
    return send(errorAnswer(id, `unknown operation: ${operation.slice(0, OPERATION_QUOTED_MAX)}`));
  };

  /** Returns undefined for a message that is answered with its fault. */
  const open = (bytes: Buffer): Envelope | undefined => {
    try {
      const message = openEnvelope(bytes, parseJson);
      errors = 0;
      return message;
    } catch (error) {
      send(errorAnswer(undefined, error instanceof StreamingError ? error.message : envelope));
      if (++errors >= ERRORS_MAX) stream.end(closings.tooManyErrors);
      return undefined;
    }
  };

  const placed = async ({ source, operation }: Envelope): Promise<boolean> => {
    const cursor = operation === 'subscribe' ? source['cursor'] : undefined;
    return hasPlace || (typeof cursor === 'string' && (await takePlace(cursor)));
  };

  return {
    async handle(bytes) {
      const message = open(bytes);
      if (message === undefined) return;
      try {
        if (await placed(message)) await run(message);
        else refusePlace();
      } catch (error) {
        if (error instanceof StreamingError) return send(errorAnswer(message.id, error.message));
        logger.error({ err: error, operation: message.operation }, 'a message of a stream failed');
        stream.end(closings.internal);
      }
    },
    hasSubscribed: () => hasSubscribed,
    takePlace: () => takePlace(undefined),
    refusePlace,
  };
}

/** @throws StreamingError for a message that is no envelope */
function openEnvelope(bytes: Buffer, parseJson: MessagesDependencies['parseJson']): Envelope {
  const source = parse(bytes, parseJson);
  if (!isRecord(source)) throw broken('expected an object');
  const id = readId(source, envelope);
  const operation = createFields(source, envelope).text('operation') ?? '';
  return { source, id, operation, bytes: bytes.length };
}

function parse(bytes: Buffer, parseJson: MessagesDependencies['parseJson']): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    throw broken(error instanceof Error ? error.message : 'invalid JSON');
  }
}

function broken(reason: string): StreamingError {
  return new StreamingError('invalid_subscription', `${envelope}: ${reason}`);
}
