import type { BodyReader } from './body.ts';
import type { Call } from './calls.ts';
import { successEnvelope } from './envelope.ts';
import { HttpError } from './errors.ts';
import { parseJson } from './json-body.ts';
import { isJson } from './media-type.ts';
import type { Answer } from './reply.ts';

/** Answers a POST with a JSON body outside the v2 contract, such as the faucet of a private network. Errors use the common table. */
export type PostHandler = {
  /** Name in metrics and logs. */
  readonly name: string;
  /** @param body parsed JSON; `{}` when the body is empty */
  run(body: unknown, signal: AbortSignal): Promise<unknown>;
};

/** Refuses bodies that are not declared as JSON: a web page sends all others without a preflight. */
export async function answerPost(call: Call, handler: PostHandler, bodies: BodyReader): Promise<Answer> {
  const { admission, deadline, request, exchange } = call;
  await admission.enter();
  if (!isJson(request.raw)) throw new HttpError('not_json');
  const bytes = await bodies.read(request.raw, deadline.signal);
  await admission.charge(handler.name);
  const result = await deadline.race(handler.run(bytes.length === 0 ? {} : parseJson(bytes), deadline.signal));
  return { status: 200, body: successEnvelope(result, exchange.extra()) };
}
