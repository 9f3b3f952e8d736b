import { TonplaneError } from '../error.ts';

/**
 * Reasons why metadata outside of the chain is unavailable.
 * - `uri_unusable`: no http, https or (with a gateway) ipfs URI, too long, with credentials, or with another port than the web's.
 * - `address_refused`: the host is, or resolves to, an address of no public host.
 * - `host_unknown`: DNS knows no address of it.
 * - `unreachable`: no connection, a broken connection, or a certificate of another host.
 * - `too_slow`, `too_large`, `too_many_redirects`: past the bounds.
 * - `bad_status`: a status that is neither 2xx nor a redirect.
 * - `not_json`: no JSON object, or an unknown or wrong encoding.
 * - `too_complex`: JSON that is too deep, or has too many values.
 */
export type MetadataErrorCode =
  | 'uri_unusable'
  | 'address_refused'
  | 'host_unknown'
  | 'unreachable'
  | 'too_slow'
  | 'too_large'
  | 'too_many_redirects'
  | 'bad_status'
  | 'not_json'
  | 'too_complex';

export type MetadataErrorData = {
  readonly host?: string;
  readonly status?: number;
  /** Error code of the system. */
  readonly cause?: string;
};

/** Codes for which a retry gives the same result. */
const final: ReadonlySet<MetadataErrorCode> = new Set(['uri_unusable']);

/** Error for token metadata that could not be fetched. Messages contain no text of the page. */
export class MetadataError extends TonplaneError<MetadataErrorCode, MetadataErrorData> {
  constructor(code: MetadataErrorCode, message: string, data: MetadataErrorData = {}, cause?: unknown) {
    super({ code, message, data, retryable: !final.has(code), cause });
  }
}
