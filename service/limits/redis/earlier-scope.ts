/**
 * Returns the scope that versions before the namespace gave a TonApi: its name alone. Its keys are read for one more release. Undefined if the scope
 * has no namespace.
 * @param scope as `scopeOf` makes it
 */
export function earlierScope(scope: string): string | undefined {
  const slash = scope.indexOf('/');
  return slash === -1 ? undefined : scope.slice(slash + 1);
}
