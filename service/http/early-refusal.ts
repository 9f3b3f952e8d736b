import type { IncomingMessage, ServerResponse } from 'node:http';

import type { LimitCaller, LimitRequest, Refused } from '../limits/limits.ts';
import { quotaHeaders } from './admission.ts';
import { answerRunOut, mustClose } from './body.ts';
import { refusedBy } from './errors.ts';
import type { Exchanges } from './exchange.ts';
import { jsonType } from './headers.ts';
import type { RefusalThrottle } from './refusal-throttle.ts';
import { hasV3Form, pathOf, routedUrl } from './paths.ts';
import { debugRequestHeader } from './read-log.ts';
import { errorAnswer } from './reply.ts';

/** Refuses callers who persistently exceed their rate before a request is routed. Routing is most of the cost of a refusal. */
export type EarlyRefusal = {
  /** True when the request is answered, with the same answer that it would get further on. */
  refuses(message: IncomingMessage, response: ServerResponse): boolean;
};

/** An operation that a path stands for. */
export type GatedRoute = {
  /** Name of the operation in limits. */
  readonly operation: string;
  /** Name of the operation in metrics. */
  readonly label: string;
  readonly methods: readonly string[];
};

export type EarlyRefusalDependencies = {
  /** Routes by normalized path. */
  readonly routes: ReadonlyMap<string, GatedRoute>;
  readonly callerOf: (message: IncomingMessage) => { readonly caller: LimitCaller; readonly name: string };
  readonly refusal: (request: LimitRequest) => Refused | undefined;
  readonly pacing: Pick<RefusalThrottle, 'isPressed' | 'isPressing' | 'hold'>;
  readonly exchanges: Pick<Exchanges, 'note'>;
  /** Returns the headers of every answer to a URL. */
  readonly headersOf: (url: string) => Readonly<Record<string, string>>;
  readonly isDraining: () => boolean;
};

export function createEarlyRefusal(dependencies: EarlyRefusalDependencies): EarlyRefusal {
  const { routes, callerOf, refusal, pacing, exchanges, headersOf, isDraining } = dependencies;

  /** Returns the refusal of a caller with so many refusals that this answer would be delayed. */
  const refused = (message: IncomingMessage, route: GatedRoute): { name: string; refused: Refused } | undefined => {
    const { caller, name } = callerOf(message);
    if (!pacing.isPressing(name)) return undefined;
    const found = refusal({ ...caller, operation: route.operation });
    return found && { name, refused: found };
  };

  const answer = (
    message: IncomingMessage,
    response: ServerResponse,
    route: GatedRoute,
    refusedDecision: Refused,
  ): (() => void) => {
    const { method = 'GET', headers } = message;
    const url = routedUrl(message.url ?? '/');
    let bytes = 0;
    const exchange = exchanges.note({ method, url, headers }, { raw: response, bytes: () => bytes });
    exchange.operation = route.label;
    return () => {
      const {
        status,
        body,
        errorCode,
        headers: further,
      } = errorAnswer(refusedBy(refusedDecision), exchange.extra(), exchange);
      const text = typeof body === 'string' ? body : body.join('');
      bytes = Buffer.byteLength(text);
      exchange.errorCode = errorCode;
      response.writeHead(status, {
        ...headersOf(url),
        ...quotaHeaders(refusedDecision.quota),
        ...further,
        ...(hasV3Form(url) && { 'server-timing': `app;dur=${exchange.elapsedMs().toFixed(3)}ms` }),
        ...((isDraining() || mustClose(message)) && { connection: 'close' }),
        'content-type': jsonType,
        'content-length': bytes,
      });
      response.end(text);
    };
  };

  return {
    refuses(message, response) {
      if (!pacing.isPressed()) return false;
      const { method = '', url = '/', headers } = message;
      const route = routes.get(pathOf(routedUrl(url)));
      if (route === undefined || !route.methods.includes(method) || debugRequestHeader in headers) return false;
      const found = refused(message, route);
      if (found === undefined) return false;
      const tell = answer(message, response, route, found.refused);
      const send = (): void => {
        answerRunOut(message, isDraining(), () => response.destroyed || tell());
      };
      const end = pacing.hold(found.name, () => {
        if (!response.destroyed) send();
      });
      if (end === undefined) send();
      else response.once('close', end);
      return true;
    },
  };
}
