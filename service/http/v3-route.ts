import type { Operation } from '../contract/operation.ts';
import { nextCursorHeader } from '../v3/cursor.ts';
import type { V3Request } from '../v3/operation.ts';
import { v3QuerySource } from '../v3/query-source.ts';
import { readSettings } from '../v3/settings.ts';
import type { BodyReader } from './body.ts';
import type { Call, Calls } from './calls.ts';
import type { Answer } from './reply.ts';
import { readBodySource } from './rest-route.ts';

/** Answers an operation of v3: limits, then the query or the body, then the operation with what the caller asked of it. */
export async function answerV3(
  calls: Calls,
  call: Call,
  operation: Operation<V3Request>,
  bodies: BodyReader,
): Promise<Answer> {
  const { request, query } = call;
  await call.admission.charge(operation.name);
  const source = request.method === 'POST' ? await readBodySource(call, bodies) : v3QuerySource(query);
  const settings = readSettings((name) => [request.headers[name]].flat()[0], query);
  let nextCursor: string | undefined;
  const onNextPage = (cursor: string): void => {
    nextCursor = cursor;
  };
  const bound = {
    ...operation,
    run: (parameters: typeof source, context: Omit<V3Request, 'settings' | 'onNextPage'>) =>
      operation.run(parameters, { ...context, settings, onNextPage }),
  };
  const answer = await calls.run(call, bound, source);
  if (nextCursor === undefined || answer.status !== 200) return answer;
  return { ...answer, headers: { ...answer.headers, [nextCursorHeader.toLowerCase()]: nextCursor } };
}
