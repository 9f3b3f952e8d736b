import type {
  DefaultedParameter,
  OptionalParameter,
  Parameter,
  RequiredParameter,
} from '#service/contract/parameter.ts';

/** A required parameter. @param missing error text without it */
export function required<T>(parameter: OptionalParameter<T>, missing: string): RequiredParameter<T> {
  return { ...parameter, missing, input: notEmpty(parameter.input) };
}

/** A required list with at least one item; empty values do not count. @param missing same as of `required` */
export function requiredList<T>(
  parameter: DefaultedParameter<readonly T[]>,
  missing: string,
): RequiredParameter<readonly T[]> {
  const { fallback: none, ...list } = parameter;
  const input = notEmpty(list.input);
  return { ...list, input, missing, check: (values) => (values.length === none.length ? missing : list.check(values)) };
}

/** An empty value counts as absent. */
function notEmpty<I extends Parameter<unknown>['input']>(input: I): I {
  return { ...input, schema: { ...input.schema, minLength: 1 } };
}
