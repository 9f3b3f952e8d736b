import type { TonApiKey } from '../resource.ts';
import { operationNamed, operationNames, similarOperations } from '../service-config.ts';

/** Names that a message shows. */
const SHOWN_MAX = 3;

/** Letters that may differ in a suggested name. */
const DISTANCE_MAX = 3;

/**
 * Names in `allowedMethods` that no operation of this release has, each with similar names. Undefined: none. Such a name allows nothing. A newer image of
 * the service may know it, so the key is made.
 */
export function unknownOperations({ spec }: TonApiKey): string | undefined {
  const names = [...(spec.allowedMethods ?? []).entries()];
  const unknown = names.filter(([, name]) => operationNamed(name) === undefined);
  if (unknown.length === 0) return undefined;
  const shown = unknown
    .slice(0, SHOWN_MAX)
    .map(([at, name]) => `spec.allowedMethods[${at}]: no operation has the name ${name}${hint(name)}`);
  return [...shown, ...(unknown.length > SHOWN_MAX ? [`and ${unknown.length - SHOWN_MAX} more`] : [])].join('; ');
}

function hint(name: string): string {
  const similar = similarOperations(name);
  const shown = similar.length > 0 ? similar : nearest(name);
  return shown.length === 0 ? '' : `, did you mean ${shown.join(', ')}?`;
}

/** The operations with the fewest different letters, in a wrong name that may be a slip. */
function nearest(name: string): readonly string[] {
  const found = operationNames.map((each) => ({ each, letters: distance(name.toLowerCase(), each.toLowerCase()) }));
  const least = Math.min(...found.map(({ letters }) => letters));
  if (least > DISTANCE_MAX || least * 2 >= name.length) return [];
  return found.filter(({ letters }) => letters === least).map(({ each }) => each);
}

/** Letters to insert, remove or replace (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let at = 0; at < from.length; at += 1) {
    const next = [at + 1];
    for (let other = 0; other < to.length; other += 1) {
      const replaced = (row[other] ?? 0) + (from[at] === to[other] ? 0 : 1);
      next.push(Math.min(replaced, (row[other + 1] ?? 0) + 1, (next[other] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
