import { TonplaneError } from '../error.ts';

/**
 * Why something outside of the chain could not be had:
 * - `uri_unusable`: no http, https or (with a gateway) ipfs, credentials in it, another port than the web's, or too long
 * - `address_refused`: the host is, or is named by DNS, at an address that is no public host's
 * - `host_unknown`: DNS knows no address of it
 * - `unreachable`: no connection, a certificate that is not the host's, or one that broke off
 * - `too_slow`, `too_large`, `too_many_redirects`: past the bounds
 * - `bad_status`: an answer that is neither 2xx nor a redirect
 * - `not_json`: no JSON object, or one in an unknown encoding
 * - `too_complex`: JSON that is too deep, or of too many values
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
  /** The system's code. */
  readonly cause?: string;
};

/** What the same page answers in a minute is the same. */
const final: ReadonlySet<MetadataErrorCode> = new Set(['uri_unusable']);

/** What a token keeps outside of the chain could not be had. Messages hold no text of the page. */
export class MetadataError extends TonplaneError<MetadataErrorCode, MetadataErrorData> {
  constructor(code: MetadataErrorCode, message: string, data: MetadataErrorData = {}, cause?: unknown) {
    super({ code, message, data, retryable: !final.has(code), cause });
  }
}
