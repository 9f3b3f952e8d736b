import { Readable } from 'node:stream';

import type { FastifyReply } from 'fastify';

import type { PacedText } from '../contract/json-stream.ts';
import { mustClose } from './body.ts';
import { v2Envelope, type Envelope, type RpcMark } from './envelope.ts';
import { jsonType, privateCache } from './headers.ts';
import { failureOf, type Failure } from './error-status.ts';

/** A finished answer. */
export type Answer = {
  readonly status: number;
  readonly body: PacedText;
  readonly headers?: Readonly<Record<string, string>>;
  /** Error code of the answer, for logs. */
  readonly errorCode?: string;
  /** Text of that error, for logs. */
  readonly errorText?: string;
  /** The error is a bug of the service and is logged. */
  readonly unexpected?: boolean;
};

/** Form of an error in an answer. */
export type ErrorReplyOptions = {
  /** Default that of v2. */
  readonly envelope?: Envelope;
  readonly mark?: RpcMark | undefined;
  /** Status of a message that is refused, here or by a lite server, and of every other expected 500. */
  readonly refusalStatus?: number | undefined;
};

/** The envelope of an error, with the headers that its status asks for. */
export function errorAnswer(error: unknown, extra: string, form: ErrorReplyOptions = {}): Answer {
  const { envelope = v2Envelope, mark, refusalStatus } = form;
  const found = failureOf(error);
  const isRefusal = found.code === 'bad_message' || (found.status === 500 && !found.unexpected);
  const ownStatus = isRefusal ? refusalStatus : envelope.statuses?.get(found.code);
  const failure = ownStatus === undefined ? found : { ...found, status: ownStatus };
  return {
    status: failure.status,
    body: envelope.failure(failure, extra, mark),
    headers: failureHeaders(failure),
    errorCode: failure.code,
    errorText: failure.text,
    unexpected: failure.unexpected,
  };
}

/** Sends the text as it is. Without an own serializer fastify adds a charset, which JSON does not have. */
export function send(reply: FastifyReply, answer: Answer): FastifyReply {
  if (isSuccess(answer)) reply.header('cache-control', privateCache);
  if (answer.headers !== undefined) reply.headers(answer.headers);
  if (answer.status === 408 || mustClose(reply.request.raw)) reply.header('connection', 'close');
  reply.code(answer.status).header('content-type', jsonType);
  const { body } = answer;
  if (typeof body === 'string') return reply.serializer(asItIs).send(body);
  const [first, second] = body;
  if (first !== undefined && second === undefined) return reply.send(first);
  const bytes = body.reduce((sum, piece) => sum + piece.length, 0);
  return reply.header('content-length', bytes).send(Readable.from(body));
}

function isSuccess({ status, errorCode }: Answer): boolean {
  return status < 400 && errorCode === undefined;
}

function asItIs(text: string): string {
  return text;
}

function failureHeaders(failure: Failure): Readonly<Record<string, string>> {
  return {
    ...(failure.retryAfterSeconds !== undefined && { 'retry-after': failure.retryAfterSeconds.toString() }),
    ...(failure.allow !== undefined && { allow: failure.allow.join(', ') }),
  };
}
