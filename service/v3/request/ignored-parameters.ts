import { invalid } from '#service/contract/errors.ts';
import type { Parameter, ParameterSource } from '#service/contract/parameter.ts';
import { settingNames } from './settings.ts';

/** `Ignore` answers without the unknown parameters, and names them; `Refuse` answers 422. */
export type UnknownParameters = 'Ignore' | 'Refuse';

/** Header with the names of ignored parameters. */
export const ignoredHeader = 'X-Tonplane-Ignored';

/** Names from callers that are not parameters of an operation. */
const besides: ReadonlySet<string> = new Set([...settingNames, 'api_key']);

/** Characters of a name, and names in an answer: a header of some 2 KB. */
const NAME_CHARACTERS_MAX = 64;
const NAMES_MAX = 32;

/** Names of values that an operation does not read: unknown parameters, empty texts and lists. Sorted, and safe in a header. */
export function ignoredParameters(
  parameters: readonly Pick<Parameter<unknown>, 'name'>[],
  source: ParameterSource,
): readonly string[] {
  if (source.names.length === 0) return [];
  const read = new Set(parameters.map(({ name }) => name));
  const isEmpty = (name: string): boolean => [source.getAll(name)].flat().every((value) => value === '');
  const ignored = source.names.filter((name) => !besides.has(name) && (!read.has(name) || isEmpty(name)));
  return ignored
    .toSorted()
    .slice(0, NAMES_MAX)
    .map((name) => encodeURIComponent(name.toWellFormed().slice(0, NAME_CHARACTERS_MAX).toWellFormed()));
}

/** Refuses a request with ignored parameters. @throws ContractError with the names of the parameters */
export function refuseIgnored(ignored: readonly string[]): void {
  if (ignored.length > 0) throw invalid(`unknown or empty parameters: ${ignored.join(', ')}`);
}
