import type { FastifyReply } from 'fastify';

import { isRecord } from '../contract/record.ts';
import type { Limits } from '../limits/limits.ts';
import { StreamingError } from '../streaming/errors.ts';
import { sseWording } from '../streaming/request/subscription.ts';
import { fieldsOfQuery } from '../streaming/request/query.ts';
import { sseHeaders } from '../streaming/sse.ts';
import type { Streaming } from '../streaming/streaming.ts';
import type { BodyReader } from './body.ts';
import type { Call, Calls } from './calls.ts';
import { HttpError } from './errors.ts';
import { parseJson } from './json-body.ts';
import { isJson } from './media-type.ts';
import type { Answer } from './reply.ts';
import { streamCallerOf, streamOperation } from './stream-caller.ts';

export type SseRouteDependencies = {
  readonly streaming: Streaming;
  readonly calls: Pick<Calls, 'callerOf'>;
  readonly limits: Limits;
  readonly bodies: BodyReader;
};

/** Milliseconds without traffic after which TCP asks the caller's host for a sign of life. */
const TCP_KEEPALIVE_MS = 15_000;

/** Answer whose stream has begun: there is nothing left to send. */
const begun: Answer = { status: 200, body: '' };

/** Answers a request for server-sent events. Every refusal is an ordinary answer; otherwise the reply is a stream when this resolves. */
export async function answerSse(
  call: Call,
  reply: FastifyReply,
  { streaming, calls, limits, bodies }: SseRouteDependencies,
): Promise<Answer> {
  const { request, admission, deadline, exchange } = call;
  await admission.charge(streamOperation);
  const isPost = request.method === 'POST';
  const header = (name: string): string | undefined => [request.headers[name]].flat()[0];
  const { caller } = calls.callerOf(request.raw);
  const stream = {
    fields: isPost ? await readFields(call, bodies) : fieldsOfQuery(call.query),
    lastEventId: header('last-event-id'),
    namesEvents: isPost,
    caller: streamCallerOf(caller, admission, { limits, actionsVersion: header('x-actions-version') }),
    signal: deadline.signal,
    begin() {
      reply.hijack();
      const { raw } = reply;
      raw.socket?.setNoDelay(true).setKeepAlive(true, TCP_KEEPALIVE_MS);
      for (const [name, value] of Object.entries(reply.getHeaders()))
        if (value !== undefined) raw.setHeader(name, value);
      raw.writeHead(200, { ...admission.headers(), ...sseHeaders });
      exchange.leave(200);
      return raw;
    },
  };
  await deadline.race(streaming.sse(stream));
  return begun;
}

/** Returns the fields of a body. A page sends any other media type without a preflight. */
async function readFields({ request, deadline }: Call, bodies: BodyReader): Promise<Readonly<Record<string, unknown>>> {
  if (!isJson(request.raw)) throw new HttpError('not_json');
  const bytes = await bodies.read(request.raw, deadline.signal);
  const body = parse(bytes);
  if (!isRecord(body)) throw notReadable('expected an object');
  return body;
}

function parse(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    throw notReadable(error instanceof Error ? error.message : 'invalid JSON');
  }
}

function notReadable(reason: string): StreamingError {
  return new StreamingError('invalid_subscription', `${sseWording.request}: ${reason}`);
}
