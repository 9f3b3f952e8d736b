import { methodIdOf } from '../tvm/method-id.ts';
import { OWN_NAME } from '../live/tokens/nfts.ts';
import type { StackEntry } from '../tvm/stack.ts';

/** Get-method with its arguments. */
export type Ask = { readonly method: string; readonly stack?: readonly StackEntry[] };

/** Arguments of methods that every contract of a kind gets unchanged. */
const ARGUMENTS: Readonly<Record<string, readonly StackEntry[]>> = { dnsresolve: OWN_NAME };

const ids = new Map<string, number>();

/** Returns the compilers' number of a method. @param method a method that this stage runs */
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
