import { methodIdOf } from '../live/method-id.ts';
import { OWN_NAME } from '../live/nfts.ts';
import type { StackEntry } from '../live/vm-values.ts';

/** A get-method, and what it is asked with. */
export type Ask = { readonly method: string; readonly stack?: readonly StackEntry[] };

/** Arguments of the methods that every contract of a kind is asked in the same words. */
const ARGUMENTS: Readonly<Record<string, readonly StackEntry[]>> = { dnsresolve: OWN_NAME };

const ids = new Map<string, number>();

/** The compilers' number of a method. @param method one of the few names that this stage asks */
export function idOf(method: string): number {
  const known = ids.get(method);
  if (known !== undefined) return known;
  const id = methodIdOf(method);
  ids.set(method, id);
  return id;
}

export function askOf(method: string): Ask {
  return { method, stack: ARGUMENTS[method] ?? [] };
}
