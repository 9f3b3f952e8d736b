import { TonplaneError } from '../error.ts';

/**
 * Why the service does not start: `port_in_use`, `address_unusable` (the host is not one of this machine, or the port needs
 * rights that the process lacks), `file_unreadable`, `accounts_invalid`, `folder_unusable`, `url_invalid` (of Redis or Postgres, or their authorities), `ca_missing` (a `caBundle` without its certificates), `other_network` (a changed configuration is of another network), `postgres_missing`, `postgres_failed` (the
 * one that the dev role runs), `metadata_unwanted` (the configuration does not want what the role does);
 * and why a command for a running network fails: `network_unreachable`, `fund_refused`, `dev_refused`.
 */
export type StartErrorCode =
  | 'port_in_use'
  | 'address_unusable'
  | 'file_unreadable'
  | 'accounts_invalid'
  | 'folder_unusable'
  | 'url_invalid'
  | 'ca_missing'
  | 'other_network'
  | 'postgres_missing'
  | 'postgres_failed'
  | 'metadata_unwanted'
  | 'network_unreachable'
  | 'dev_refused'
  | 'fund_refused';

/** The service cannot start, or go on, as it was told; the message says which option to change. */
export class StartError extends TonplaneError<StartErrorCode, Readonly<Record<string, string | number>>> {}

/** The system's code of an error, such as `EADDRINUSE`; empty for any other value. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
