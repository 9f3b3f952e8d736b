import type { Operation } from '../contract/operation.ts';
import { nextCursorHeader } from '../v3/request/cursor.ts';
import {
  ignoredHeader,
  ignoredParameters,
  refuseIgnored,
  type UnknownParameters,
} from '../v3/request/ignored-parameters.ts';
import type { V3Request } from '../v3/request/operation.ts';
import { v3QuerySource } from '../v3/request/query-source.ts';
import { readSettings } from '../v3/request/settings.ts';
import type { BodyReader } from './body.ts';
import type { Call, Calls } from './calls.ts';
import type { Answer } from './reply.ts';
import { readBodySource } from './rest-route.ts';

export type V3RouteOptions = {
  readonly bodies: BodyReader;
  /** Default `Ignore`. */
  readonly unknownParameters?: UnknownParameters;
  /** `Accept`: an empty body of a POST is an object without fields; `Refuse`: it is no JSON. Default `Accept`. */
  readonly emptyBody?: 'Accept' | 'Refuse';
};

/** Answers an operation of v3: checks the limits, reads the query or the body, and runs the operation. */
export async function answerV3(
  calls: Calls,
  call: Call,
  operation: Operation<V3Request>,
  { bodies, unknownParameters = 'Ignore', emptyBody }: V3RouteOptions,
): Promise<Answer> {
  const { request, query } = call;
  await call.admission.charge(operation.name);
  const source = request.method === 'POST' ? await readBodySource(call, bodies, emptyBody) : v3QuerySource(query);
  const settings = readSettings((name) => [request.headers[name]].flat()[0], query);
  const ignored = ignoredParameters(operation.parameters, source);
  if (ignored.length > 0) calls.noteIgnored(call, ignored);
  let nextCursor: string | undefined;
  const onNextPage = (cursor: string): void => {
    nextCursor = cursor;
  };
  const bound = {
    ...operation,
    async run(parameters: typeof source, context: Omit<V3Request, 'settings' | 'onNextPage'>) {
      if (unknownParameters === 'Refuse') refuseIgnored(ignored);
      return operation.run(parameters, { ...context, settings, onNextPage });
    },
  };
  const answer = await calls.run(call, bound, source);
  return {
    ...answer,
    headers: {
      ...answer.headers,
      ...(ignored.length > 0 && { [ignoredHeader.toLowerCase()]: ignored.join(',') }),
      ...(nextCursor !== undefined && answer.status === 200 && { [nextCursorHeader.toLowerCase()]: nextCursor }),
    },
  };
}
