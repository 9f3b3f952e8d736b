import type { Subject } from './callers.ts';
import type { FoundKey } from './keyring.ts';
import { inSources } from './key-terms.ts';

/** Reason why a valid key may not be used for a request. */
export type Forbidden = 'network_not_allowed' | 'source_not_allowed' | 'operation_not_allowed';

/** Returns why a key may not be used on this network from this address; undefined if it may. */
export function forbiddenTo({ terms }: FoundKey, network: string, clientAddress: string): Forbidden | undefined {
  const { networks, allowedSources } = terms;
  if (networks !== undefined && !networks.includes(network)) return 'network_not_allowed';
  if (allowedSources !== undefined && !inSources(allowedSources, clientAddress)) return 'source_not_allowed';
  return undefined;
}

/** Reports whether a subject may run an operation. A caller without a key may run all. */
export function mayCall({ key }: Subject, operation: string): boolean {
  return key?.terms.allowedMethods?.has(operation) ?? true;
}
