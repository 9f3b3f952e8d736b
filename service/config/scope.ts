/**
 * Scope of a TonApi in a Redis that several may share: `namespace/name`. Every key of budgets, usage, floors, pending traces and revocations contains it.
 * A manifest without a namespace has its name as scope.
 */
export function scopeOf(of: { readonly name: string; readonly namespace?: string | undefined }): string {
  return of.namespace === undefined ? of.name : `${of.namespace}/${of.name}`;
}
