import type { DefaultedParameter, OptionalParameter, Parameter, RequiredParameter } from '../contract/parameter.ts';

/** A parameter that must be given. @param missing what to tell the caller otherwise */
export function required<T>(parameter: OptionalParameter<T>, missing: string): RequiredParameter<T> {
  return { ...parameter, missing, input: notEmpty(parameter.input) };
}

/** A list that must have something in it; values that are empty are nothing. @param missing as of `required` */
export function requiredList<T>(
  parameter: DefaultedParameter<readonly T[]>,
  missing: string,
): RequiredParameter<readonly T[]> {
  const { fallback: none, ...list } = parameter;
  const input = notEmpty(list.input);
  return { ...list, input, missing, check: (values) => (values.length === none.length ? missing : list.check(values)) };
}

/** What is empty is not given. */
function notEmpty<I extends Parameter<unknown>['input']>(input: I): I {
  return { ...input, schema: { ...input.schema, minLength: 1 } };
}
