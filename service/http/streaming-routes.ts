import type { FastifyReply, FastifyRequest } from 'fastify';

import type { Limits } from '../limits/limits.ts';
import { StreamingError } from '../streaming/errors.ts';
import { comeBackLater, sseHeaders } from '../streaming/sse.ts';
import type { Streaming } from '../streaming/streaming.ts';
import type { BodyReader } from './body.ts';
import type { Calls } from './calls.ts';
import type { GatedRoute } from './early-refusal.ts';
import type { Exchanges } from './exchange.ts';
import { jsonType, noStore } from './headers.ts';
import { basePaths, ssePath, wsPath } from './paths.ts';
import { errorAnswer, send, type Answer } from './reply.ts';
import { answerSse } from './sse-route.ts';
import { streamOperation } from './stream-caller.ts';

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | FastifyReply;

export type StreamingRoutesDependencies = {
  readonly streaming: Streaming;
  readonly calls: Calls;
  readonly limits: Limits;
  readonly exchanges: Exchanges;
  readonly bodies: BodyReader;
  /** Paths of a single operation. */
  readonly gated: Map<string, GatedRoute>;
  readonly declare: (path: string, methods: readonly string[], handler: Handler) => void;
};

/** Statuses of refusals that end by themselves. */
const passingStatuses: ReadonlySet<number> = new Set([503, 504]);

/** Label of server-sent events in metrics. */
const sseLabel = 'streaming/sse';

/** Declares the paths of streaming. An upgrade does not come here (upgrades.ts). */
export function declareStreaming(dependencies: StreamingRoutesDependencies): void {
  const { streaming, calls, exchanges, declare } = dependencies;

  const refusing = (label: string, error: StreamingError, headers: Readonly<Record<string, string>>): Handler => {
    return (request, reply) => {
      const exchange = exchanges.of(request);
      exchange.operation = label;
      exchange.errorCode = error.code;
      return send(reply.headers(headers), errorAnswer(error, exchange.extra(), { envelope: exchange.envelope }));
    };
  };

  declare(ssePath, ['GET', 'POST'], async (request, reply) => {
    const exchange = exchanges.of(request);
    exchange.operation = sseLabel;
    const answer = await calls.around(request, reply, (call) => answerSse(call, reply, dependencies));
    if (reply.raw.headersSent) return reply;
    exchange.errorCode = answer.errorCode;
    exchange.errorText = answer.errorText;
    // An EventSource gives up at any status but 200.
    const isPassing = request.method === 'GET' && passingStatuses.has(answer.status);
    return isPassing ? sendComeBackLater(reply, answer) : send(reply, answer);
  });

  dependencies.gated.set(ssePath, { operation: streamOperation, label: sseLabel, methods: ['GET', 'POST'] });

  const upgradeRequired = new StreamingError('upgrade_required', 'Upgrade Required');
  declare(
    wsPath,
    ['GET'],
    refusing('streaming/ws', upgradeRequired, { upgrade: 'websocket', connection: 'Upgrade, close' }),
  );

  declare(`${basePaths.streaming}/healthz`, ['GET', 'HEAD'], (request, reply) => {
    exchanges.of(request).operation = 'streaming/healthz';
    const health = streaming.health();
    return reply
      .code(health.ok ? 200 : 503)
      .headers({ 'content-type': jsonType, 'cache-control': noStore })
      .serializer((text: string) => text)
      .send(JSON.stringify(health));
  });

  const old = new StreamingError('streaming_old', 'streaming v1 is not served, use /api/streaming/v2');
  for (const name of ['sse', 'ws'])
    declare(`${basePaths.streaming}/v1/${name}`, ['GET', 'POST'], refusing('streaming/v1', old, {}));
}

function sendComeBackLater(reply: FastifyReply, { headers, body }: Answer): FastifyReply {
  const { error } = JSON.parse(String(body)) as { readonly error: string };
  const { 'retry-after': _retryAfter, ...further } = headers ?? {};
  return reply
    .code(200)
    .headers({ ...further, ...sseHeaders })
    .serializer((text: string) => text)
    .send(comeBackLater(error));
}
