import type { DefaultedParameter } from '../contract/parameter.ts';
import { supportedTypes } from './action-versions.ts';
import type { V3Context } from './operation.ts';
import { texts } from './parameters.ts';

/** What names of types are made of. */
const typePattern = /^[A-Za-z0-9_.]+$/;

/** Names of types as they are stored: names of versions do not stand for others here. */
export function actionTypes(name: string): DefaultedParameter<readonly string[]> {
  return {
    ...texts(name),
    check: (values) =>
      values.every((value) => typePattern.test(value)) ? undefined : `${name} contains invalid characters`,
  };
}

/** What the caller knows of actions: versions, groups and types. */
export const supportedActionTypes = texts('supported_action_types');

/** The types that the caller of a request knows: what the header says goes before the parameter. */
export function supportedBy(
  { supportedActionTypes: given }: { readonly supportedActionTypes: readonly string[] },
  { settings: { actionsVersion } }: Pick<V3Context, 'settings'>,
): ReadonlySet<string> {
  const known = supportedTypes(actionsVersion === undefined ? given : [actionsVersion]);
  // What can be no type is dropped here and not before: who says something has not left it to the newest version.
  return new Set([...known].filter((type) => typePattern.test(type)));
}
