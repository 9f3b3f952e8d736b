import { TonplaneError } from '#service/error.ts';

import type { Refusal } from '../status/observed.ts';

/** Some failures pass. A status is written about the second failure in a row. */
const FAILURES_REPORTED_FROM = 1;

/**
 * The refusal that an unexpected error of a reconcile stands for. It is a fault of the operator, or a value that no check found.
 * Undefined for errors that the operator raises on purpose, for ended requests, and for errors of the network.
 *
 * @param failures of the same key in a row before this one
 */
export function internalErrorOf(error: unknown, failures: number): Refusal | undefined {
  if (!(error instanceof Error) || failures < FAILURES_REPORTED_FROM) return undefined;
  if (error instanceof TonplaneError || error.name === 'AbortError' || error.name === 'TimeoutError') return undefined;
  if (error.cause !== undefined || 'syscall' in error) return undefined;
  const message = `the operator cannot reconcile this resource; its log has the place of the error: ${wordsOf(error)}`;
  return { reason: 'InternalError', message };
}

/** The message of a SyntaxError may quote a Secret. */
function wordsOf(error: Error): string {
  return error instanceof SyntaxError ? error.name : `${error.name}: ${error.message}`;
}
