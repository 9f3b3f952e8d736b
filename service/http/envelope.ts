import { isMemoized, writeResult } from '../contract/memoized-view.ts';
import { writePaced, type PacedText } from '../contract/json-stream.ts';
import { createTimeSlice } from '../runtime/time-slice.ts';
import type { Failure } from './error-status.ts';

/** Facts about an answer in `@extra`. */
export type ExtraFacts = {
  readonly unixSeconds: number;
  /** Zero-based indexes of the lite servers whose answers were used. */
  readonly liteServers: readonly number[];
  readonly elapsedMs: number;
  readonly cached: boolean;
};

/** Fields of a request that its JSON-RPC answer repeats. `id` is raw JSON text, absent when the request has none. */
export type RpcMark = { readonly id?: string };

/** `@extra` of answers made without an operation: unknown paths, errors of JSON-RPC itself. */
export const bareExtra = '_';

/**
 * Renders `<unix seconds>:<lite servers>:<elapsed ms>[:c]` (service/v2/README.md#envelope). Commas separate lite servers. `_` means that
 * none was used or that a cache answered. The elapsed time has 6 significant digits.
 */
export function extraText(facts: ExtraFacts): string {
  const liteServers = facts.cached || facts.liteServers.length === 0 ? '_' : facts.liteServers.join(',');
  const mark = facts.cached ? ':c' : '';
  return `${facts.unixSeconds}:${liteServers}:${sixDigits(facts.elapsedMs)}${mark}`;
}

/** Renders a number as a C++ stream does by default: 6 significant digits and no trailing zeros. Exponents start at 1e6 and below 1e-4. */
export function sixDigits(value: number): string {
  // Most are of this range, in which the shortest form of a number has no exponent either.
  if (value >= 1e-4 && value < 999_999) return Number(value.toPrecision(6)).toString();
  const [digits = '0', exponentText = '0'] = value.toExponential(5).split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return withoutZeros(value.toFixed(5 - exponent));
  const size = Math.abs(exponent).toString().padStart(2, '0');
  return `${withoutZeros(digits)}e${exponent < 0 ? '-' : '+'}${size}`;
}

/** Form of a contract's answers. */
export type Envelope = {
  /** @param extra `@extra` of the answer, where the contract has it. @param signal ends the writing of a long answer */
  success(result: unknown, extra: string, mark?: RpcMark, signal?: AbortSignal): string | Promise<PacedText>;
  failure(failure: Failure, extra: string, mark?: RpcMark): string;
  /** Statuses of the contract by error code, where they differ from the common table. */
  readonly statuses?: ReadonlyMap<string, number>;
};

/** The body of a success: `ok`, `result`, `@extra`, then the JSON-RPC mark. */
export function successEnvelope(result: unknown, extra: string, mark?: RpcMark): string {
  return successAround(extra, mark).join(writeResult(result));
}

/** The body of a failure: `ok`, `error`, `code`, `@extra`, then the JSON-RPC mark. */
export function failureEnvelope(failure: Failure, extra: string, mark?: RpcMark): string {
  const error = JSON.stringify(failure.text);
  return `{"ok":false,"error":${error},"code":${failure.status},"@extra":${JSON.stringify(extra)}${markText(mark)}}`;
}

export const v2Envelope: Envelope = { success: successOf, failure: failureEnvelope };

/** A result that may be long is written in slices. */
function successOf(result: unknown, extra: string, mark?: RpcMark, signal?: AbortSignal): string | Promise<PacedText> {
  const isLong = typeof result === 'object' && result !== null && !isMemoized(result);
  return isLong ? pacedSuccess(result, extra, mark, signal) : successEnvelope(result, extra, mark);
}

async function pacedSuccess(
  result: object,
  extra: string,
  mark: RpcMark | undefined,
  signal: AbortSignal | undefined,
): Promise<PacedText> {
  const text = await writePaced(result, createTimeSlice(signal));
  const [before, after] = successAround(extra, mark);
  return typeof text === 'string' ? before + text + after : [Buffer.from(before), ...text, Buffer.from(after)];
}

/** Text before the result, and after it. */
function successAround(extra: string, mark: RpcMark | undefined): readonly [before: string, after: string] {
  return ['{"ok":true,"result":', `,"@extra":${JSON.stringify(extra)}${markText(mark)}}`];
}

/** Results as they are, and failures without `@extra` (service/v3/README.md#transport, service/v3/README.md#errors). */
export const v3Envelope: Envelope = {
  success: (result, _extra, _mark, signal) => writePaced(result, createTimeSlice(signal)),
  failure: ({ text, status, code, fields }) => {
    // v2 reports a timeout as if the lite server had timed out.
    const error = code === 'request_timeout' ? 'timeout of the request' : text;
    return JSON.stringify({ ok: false, code: status, error, ...fields });
  },
};

/** The form of v3, with 400 for a body that is no JSON (service/emulate/README.md#errors). */
export const emulateEnvelope: Envelope = {
  ...v3Envelope,
  statuses: new Map([['body_not_json', 400]]),
};

function markText(mark: RpcMark | undefined): string {
  if (mark === undefined) return '';
  return mark.id === undefined ? ',"jsonrpc":"2.0"' : `,"jsonrpc":"2.0","id":${mark.id}`;
}

function withoutZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
