import type { DefaultedParameter, OptionalParameter, RequiredParameter } from '../contract/parameter.ts';

/** A parameter that must be given. @param missing what to tell the caller otherwise */
export function required<T>(parameter: OptionalParameter<T>, missing: string): RequiredParameter<T> {
  return { ...parameter, missing };
}

/** A list that must have something in it; values that are empty are nothing. @param missing as of `required` */
export function requiredList<T>(
  parameter: DefaultedParameter<readonly T[]>,
  missing: string,
): RequiredParameter<readonly T[]> {
  const { fallback: none, ...list } = parameter;
  return { ...list, missing, check: (values) => (values.length === none.length ? missing : list.check(values)) };
}
