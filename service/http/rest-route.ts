import type { Operation } from '../contract/operation.ts';
import { bodySource, querySource, type ParameterSource } from '../contract/parameter.ts';
import { isRecord } from '../contract/record.ts';
import type { BodyReader } from './body.ts';
import type { Call, Calls } from './calls.ts';
import { HttpError } from './errors.ts';
import { parseJson } from './json-body.ts';
import type { Answer } from './reply.ts';

/** Answers `GET` and `POST /api/v2/<operation>`: limits, then the body, then the operation. */
export async function answerRest(calls: Calls, call: Call, operation: Operation, bodies: BodyReader): Promise<Answer> {
  await call.admission.charge(operation.name);
  return calls.run(call, operation, await readSource(call, bodies));
}

/** GET reads the query, POST the body and never the query (service/v2/README.md#transport). */
async function readSource(call: Call, bodies: BodyReader): Promise<ParameterSource> {
  if (call.request.method !== 'POST') return querySource(call.query);
  return readBodySource(call, bodies);
}

/**
 * Returns the fields of a JSON object.
 * @param emptyBody `Accept`: an empty body counts as an object without fields; `Refuse`: an empty body is no JSON
 */
export async function readBodySource(
  call: Call,
  bodies: BodyReader,
  emptyBody: 'Accept' | 'Refuse' = 'Accept',
): Promise<ParameterSource> {
  const bytes = await bodies.read(call.request.raw, call.deadline.signal);
  if (bytes.length === 0 && emptyBody === 'Accept') return bodySource({});
  const body = parseJson(bytes);
  if (!isRecord(body)) throw new HttpError('body_not_json', 'expected a JSON object');
  return bodySource(body);
}
