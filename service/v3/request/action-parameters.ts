import type { DefaultedParameter } from '#service/contract/parameter.ts';
import { supportedTypes } from './action-versions.ts';
import type { V3Context } from './operation.ts';
import { texts } from './parameters.ts';

/** Characters of type names. */
const typePattern = /^[A-Za-z0-9_.]+$/;

/** Stored names of types: names of versions do not expand here. */
export function actionTypes(name: string): DefaultedParameter<readonly string[]> {
  return {
    ...texts(name),
    check: (values) =>
      values.every((value) => typePattern.test(value)) ? undefined : `${name} contains invalid characters`,
  };
}

/** Types of actions that the caller knows: versions, groups and types. */
export const supportedActionTypes = texts('supported_action_types');

/** Types that the caller of a request knows: the header overrides the parameter. */
export function supportedBy(
  { supportedActionTypes: given }: { readonly supportedActionTypes: readonly string[] },
  { settings: { actionsVersion } }: Pick<V3Context, 'settings'>,
): ReadonlySet<string> {
  const known = supportedTypes(actionsVersion === undefined ? given : [actionsVersion]);
  // Malformed names are dropped here and not earlier: a caller that names anything has not chosen the newest version.
  return new Set([...known].filter((type) => typePattern.test(type)));
}
