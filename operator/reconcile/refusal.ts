import { isApiError, type ApiError } from '../kubernetes/errors.ts';
import type { Refusal } from '../status/observed.ts';

/** Messages of the API server for values that fit no type of the object. It reports them as its own failure. */
const untypable = /failed to create typed patch object|field not declared in schema|cannot be handled as a/;

/** Policies and webhooks both deny requests, with any HTTP status. */
const denied = /denied (the )?request/;

const quota = /exceeded quota|failed quota/;

const webhookAway = /failed calling webhook/;

/** A server that failed once may just start: a status is written about the second failure in a row. */
const FAILURES_REPORTED_FROM = 1;

/**
 * The refusal that an answer of the API server stands for, in the server's words. Undefined for all that says nothing of the object: no answer, credentials,
 * conflicts, versions that are gone, throttling.
 *
 * @param failures of the same key in a row before this one
 */
export function refusalOf(error: unknown, failures: number): Refusal | undefined {
  if (!isApiError(error, 'refused', 'forbidden', 'server')) return undefined;
  const refusal = { message: error.message, ...reasonOf(error) };
  return refusal.retried === true && failures < FAILURES_REPORTED_FROM ? undefined : refusal;
}

function reasonOf({ code, message }: ApiError): Pick<Refusal, 'reason' | 'retried'> {
  if (denied.test(message)) return { reason: 'AdmissionDenied' };
  if (code === 'server') {
    if (untypable.test(message)) return { reason: 'InvalidValue' };
    return { reason: webhookAway.test(message) ? 'WebhookUnavailable' : 'ServerError', retried: true };
  }
  if (code === 'forbidden') return { reason: quota.test(message) ? 'QuotaExceeded' : 'Forbidden' };
  return { reason: 'InvalidValue' };
}
