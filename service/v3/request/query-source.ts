import type { ParameterSource } from '#service/contract/parameter.ts';

/**
 * Values of a query by the names of v3, in any case, with or without `[]`. Many clients add `[]` to lists. The last value of a repeated
 * scalar wins (service/v3/README.md#parameters).
 */
export function v3QuerySource(query: URLSearchParams): ParameterSource {
  const byName = new Map<string, string[]>();
  for (const [written, value] of query) {
    const name = written.replace(/\[\]$/, '').toLowerCase();
    const values = byName.get(name);
    if (values === undefined) byName.set(name, [value]);
    else values.push(value);
  }
  return {
    kind: 'query',
    names: [...byName.keys()],
    get: (name) => byName.get(name)?.at(-1),
    getAll: (name) => byName.get(name),
  };
}
