import type { IncomingMessage } from 'node:http';

import type { Tracer } from '@opentelemetry/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

import { addressSubject, clientAddress } from '../limits/client-address.ts';
import { parseKey } from '../limits/keys.ts';
import type { Limits } from '../limits/limits.ts';
import type { Operation } from '../contract/operation.ts';
import type { ParameterSource } from '../contract/parameter.ts';
import { createAdmission, quotaHeaders, type Admission, type Caller } from './admission.ts';
import { readApiKey } from './api-key.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import type { RpcMark } from './envelope.ts';
import { HttpError } from './errors.ts';
import type { Exchange, Exchanges } from './exchange.ts';
import type { Clock, ResolvedHttpOptions } from './options.ts';
import type { RefusalThrottle } from './refusal-throttle.ts';
import { createReadLog, debugRequestHeader, type ReadLog } from './read-log.ts';
import { errorAnswer, type Answer, type ErrorReplyOptions } from './reply.ts';

/** State of one running request for operations: everything that a route needs to answer it. */
export type Call = {
  readonly request: FastifyRequest;
  readonly query: URLSearchParams;
  readonly exchange: Exchange;
  readonly admission: Admission;
  readonly deadline: Deadline;
  /** Key id, or address as limits count it. Used for fair queueing and monotonic reads of the head. */
  readonly caller: string;
  readonly clientAddress: string;
  readonly notes: ReadLog;
};

/** Runs requests for operations, with capacity, deadline and admission. Renders the result of an operation as an envelope. */
export type Calls = {
  /** Runs `work` with a call, and releases its resources afterwards. An error of `work` becomes the answer. */
  around(request: FastifyRequest, reply: FastifyReply, work: (call: Call) => Promise<Answer>): Promise<Answer>;
  /** Runs one operation; never throws. */
  run(call: Call, operation: Runnable, source: ParameterSource, mark?: RpcMark): Promise<Answer>;
  /** Logs the parameters that an answer ignores. */
  noteIgnored(call: Call, names: readonly string[]): void;
  readonly setTrustedProxies: (count: number) => void;
  /** `RateLimit` headers of a caller whose request is free, because it ends at its first line. */
  readonly standingHeaders: (request: FastifyRequest) => Readonly<Record<string, string>>;
  /** Returns the sender of a message, and its name for limits and fair queueing. */
  readonly callerOf: (message: IncomingMessage) => { readonly caller: Caller; readonly name: string };
  /** Ends everything in flight: the time to drain is over. */
  cut(): void;
};

/** Part of an operation that running needs. */
export type Runnable = Pick<Operation, 'run' | 'refusalStatus'>;

export type CallsDependencies = {
  readonly exchanges: Exchanges;
  readonly limits: Limits;
  readonly tracer: Tracer;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly pacing: RefusalThrottle;
  /** Served masterchain seqno; undefined before the first. */
  readonly headSeqno: () => number | undefined;
};

export function createCalls(options: ResolvedHttpOptions, dependencies: CallsDependencies): Calls {
  const { exchanges, limits, logger, clock, pacing } = dependencies;
  const deadlines = new Set<Deadline>();
  let { trustedProxies } = options;

  const callerOf = ({ headers, socket }: IncomingMessage, query: URLSearchParams): Caller => {
    const forwardedFor = headers['x-forwarded-for'];
    return {
      key: readApiKey(headers['x-api-key'], query),
      clientAddress: clientAddress(
        socket.remoteAddress ?? '',
        Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor,
        trustedProxies,
      ),
    };
  };

  const open = (request: FastifyRequest): Call => {
    const exchange = exchanges.of(request);
    const query = queryOf(request);
    const caller = callerOf(request.raw, query);
    const deadline = createDeadline(options.requestTimeoutMs, clock.nowMs);
    const admission = createAdmission(caller, exchange.span, dependencies);
    const notes = createReadLog(dependencies.headSeqno);
    return {
      request,
      query,
      exchange,
      deadline,
      admission,
      caller: nameOf(caller),
      clientAddress: caller.clientAddress,
      notes,
    };
  };

  const fail = (exchange: Exchange, error: unknown, form: ErrorReplyOptions = {}): Answer => {
    const { envelope } = exchange;
    const answer = errorAnswer(error, exchange.extra(exchange.liteServers), { envelope, ...form });
    if (answer.unexpected === true) logger.error({ err: error, operation: exchange.operation }, 'operation failed');
    return answer;
  };

  return {
    async around(request, reply, work) {
      const exchange = exchanges.of(request);
      if (exchanges.inFlight > options.inFlightMax) return fail(exchange, new HttpError('too_many_in_flight'));
      const call = open(request);
      const { deadline, admission } = call;
      deadlines.add(deadline);
      const onClose = (): void => {
        if (!reply.raw.writableFinished) deadline.abort('caller_gone');
      };
      reply.raw.once('close', onClose);
      try {
        const answer = await work(call).catch((error: unknown) => fail(exchange, error));
        if (refusalStatuses.has(answer.status)) await pacing.wait(paced(call, answer), deadline.signal);
        await call.notes.settled();
        return withHeaders(answer, { ...admission.headers(), ...debugged(call) });
      } finally {
        admission.release();
        deadline.end();
        deadlines.delete(deadline);
        reply.raw.off('close', onClose);
      }
    },

    async run({ exchange, deadline, admission, caller, notes }, operation, source, mark) {
      const reads = notes.begin();
      try {
        const { atMs: deadlineMs, signal } = deadline;
        const access = admission.grants();
        const getMethods = admission.getMethods();
        const context = {
          deadlineMs,
          signal,
          span: exchange.span,
          caller,
          observe: reads.observe,
          ...(access && { access }),
          ...(getMethods && { getMethods }),
        };
        const answer = await deadline.race(operation.run(source, context));
        exchange.liteServers = answer.liteServers;
        return {
          status: 200,
          body: await exchange.envelope.success(
            answer.value,
            exchange.extra(answer.liteServers, answer.cached),
            mark,
            signal,
          ),
        };
      } catch (error) {
        exchange.liteServers = reads.asked();
        return fail(exchange, error, { mark, refusalStatus: operation.refusalStatus });
      }
    },

    noteIgnored: ({ exchange: { operation } }, names) =>
      logger.debug({ operation, parameters: names }, 'parameters are ignored'),

    standingHeaders: (request) => quotaHeaders(limits.standing(callerOf(request.raw, queryOf(request)))),

    callerOf(message) {
      const caller = callerOf(message, new URLSearchParams(message.url?.split('?', 2)[1]));
      return { caller, name: nameOf(caller) };
    },

    setTrustedProxies(count) {
      trustedProxies = count;
    },

    cut() {
      for (const deadline of deadlines) deadline.abort('request_timeout');
    },
  };
}

/** 401 and 429: a caller may repeat such requests without limit and gets only these answers. */
const refusalStatuses: ReadonlySet<number> = new Set([401, 429]);

/** Returns the name under which refusals are counted. A caller who guesses keys has a new key each time, so its address counts. */
function paced({ caller, clientAddress: address }: Call, { status }: Answer): string {
  return status === 401 ? addressSubject(address) : caller;
}

/** Returns the caller's name for limits, without secrets: the id of a key, else the address or its network. */
function nameOf({ key, clientAddress: address }: Caller): string {
  return key === undefined ? addressSubject(address) : `key ${parseKey(key)?.id ?? ''}`;
}

function debugged({ request, notes }: Call): Readonly<Record<string, string>> {
  return request.headers[debugRequestHeader] === '1' ? notes.headers() : {};
}

/** Parsed by the router where a route was found. */
function queryOf({ query, url }: FastifyRequest): URLSearchParams {
  return query instanceof URLSearchParams ? query : new URLSearchParams(url.split('?', 2)[1]);
}

function withHeaders(answer: Answer, headers: Readonly<Record<string, string>>): Answer {
  return { ...answer, headers: { ...headers, ...answer.headers } };
}
