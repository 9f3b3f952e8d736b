import type { ServiceConfig } from '../config.ts';

/**
 * Scope of a TonApi in a Redis that several may share: `namespace/name`. Every key of budgets, usage, floors, pending traces and revocations contains it.
 * A manifest without a namespace has its name as scope.
 */
export function scopeOf(of: { readonly name: string; readonly namespace?: string | undefined }): string {
  return of.namespace === undefined ? of.name : `${of.namespace}/${of.name}`;
}

/** Scope of what the pods of a TonApi share about one network. A TonApi of another network must not read it. */
export function networkScopeOf(of: Pick<ServiceConfig, 'name' | 'namespace' | 'anchors'>): string {
  return `${scopeOf(of)}:${of.anchors.zeroState.rootHash.toString('hex').slice(0, 16)}`;
}
