import type { Call } from './calls.ts';
import { successEnvelope } from './envelope.ts';
import { noStore } from './headers.ts';
import type { Answer } from './reply.ts';

/** Answers `GET /usage` with what the caller's own key did on the UTC day that is. */
export async function answerUsage(call: Call): Promise<Answer> {
  const { keyId, plan, usage } = await call.admission.usage();
  const body = successEnvelope({ keyId, plan, ...usage }, call.exchange.extra());
  return { status: 200, body, headers: { 'cache-control': noStore } };
}
