import { keyOf } from './kubernetes/object.ts';
import type { TonApi } from './resource.ts';

/** Text for standard output, and sentences for standard error. A problem makes the exit code 1. */
export type PlannedTexts = { readonly text: string; readonly problems: readonly string[] };

/**
 * Returns the plans of all TonApis in order of their names. An error of one is its text and a problem, and the others are planned.
 *
 * @throws the error itself when `signal` has ended: then no other plan would succeed
 */
export async function plannedTexts(
  tonApis: readonly TonApi[],
  planOf: (tonApi: TonApi) => Promise<string>,
  signal: AbortSignal,
): Promise<PlannedTexts> {
  const texts: string[] = [];
  const problems: string[] = [];
  for (const tonApi of tonApis.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))) {
    const name = `TonApi ${keyOf(tonApi)}`;
    try {
      texts.push(`${name}: ${await planOf(tonApi)}`);
    } catch (error) {
      if (signal.aborted) throw error;
      const problem = `${name}: no plan, because of an error: ${error instanceof Error ? error.message : String(error)}`;
      texts.push(`${problem}\n`);
      problems.push(problem);
    }
  }
  return { text: texts.length === 0 ? 'no TonApi\n' : texts.join('\n'), problems };
}
