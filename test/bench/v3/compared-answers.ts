import type { BenchResult } from '../bench.ts';
import { answersEqual, type Contender } from './contenders.ts';
import type { Kind } from './mixes.ts';

/** Differing requests that are printed. */
const SHOWN = 20;

/**
 * Requests both versions for the same and compares status, cursor and bytes. Kinds take turns, so each request of a kind is another one.
 *
 * @throws Error there is a difference
 */
export async function compareAnswers(
  contenders: readonly Contender[],
  kinds: readonly Kind[],
  compared: number,
): Promise<BenchResult[]> {
  const differing: string[] = [];
  for (let at = 0; at < compared; at++) {
    const path = kinds[at % kinds.length]!.path(Math.floor(at / kinds.length));
    if (!(await answersEqual(contenders, path))) differing.push(path);
  }
  if (differing.length > 0) {
    throw new Error(`${differing.length} of ${compared} answers differ:\n${differing.slice(0, SHOWN).join('\n')}`);
  }
  return [
    {
      name: `answers that differ, of ${compared} of ${kinds.length} kinds`,
      value: 0,
      unit: 'answers',
      met: true,
      goal: '0',
    },
  ];
}
