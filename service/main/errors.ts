import { TonplaneError } from '../error.ts';

/**
 * Reasons why the service does not start, or why a command for a running network fails.
 * - `port_in_use`
 * - `address_unusable`: the host is not on this machine, or the port needs rights that the process lacks
 * - `file_unreadable`, `accounts_invalid`, `folder_unusable`
 * - `url_invalid`: the URL of Redis or Postgres, or their authorities
 * - `ca_missing`: a `caBundle` without its certificates
 * - `client_certificate_missing`, `client_certificate_invalid`: a `clientCertificate` without both of its parts, or with wrong parts
 * - `other_network`: a changed configuration is of another network
 * - `postgres_missing`, `postgres_failed`: the Postgres that the dev role runs
 * - `metadata_unwanted`, `streams_unwanted`: the configuration disables the role's work
 * - `network_unreachable`, `dev_refused`: failures of commands
 */
export type StartErrorCode =
  | 'port_in_use'
  | 'address_unusable'
  | 'file_unreadable'
  | 'accounts_invalid'
  | 'folder_unusable'
  | 'url_invalid'
  | 'ca_missing'
  | 'client_certificate_missing'
  | 'client_certificate_invalid'
  | 'other_network'
  | 'postgres_missing'
  | 'postgres_failed'
  | 'metadata_unwanted'
  | 'streams_unwanted'
  | 'network_unreachable'
  | 'dev_refused';

/** The service cannot start, or continue, with its options. The message says which option to change. */
export class StartError extends TonplaneError<StartErrorCode, Readonly<Record<string, string | number>>> {}

/** Returns the system's code of an error, such as `EADDRINUSE`; empty for any other value. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
