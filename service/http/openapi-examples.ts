import type { JsonSchema } from '../contract/shape.ts';

type Parameter = { readonly name?: string; readonly in?: string };

type Described = {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, { readonly parameters?: readonly Parameter[] }>>>>;
};

/**
 * An OpenAPI document whose parameters of a query have examples.
 * @param examples by name of the parameter
 */
export function withExamples(document: JsonSchema, examples: Readonly<Record<string, string>>): JsonSchema {
  const { paths = {} } = document as Described;
  const shown = Object.entries(paths).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => [
        method,
        operation.parameters === undefined
          ? operation
          : { ...operation, parameters: operation.parameters.map((one) => withExample(one, examples)) },
      ]),
    ),
  ]);
  return { ...document, paths: Object.fromEntries(shown) };
}

function withExample(parameter: Parameter, examples: Readonly<Record<string, string>>): object {
  const { name = '' } = parameter;
  return parameter.in === 'query' && Object.hasOwn(examples, name)
    ? { ...parameter, example: examples[name] }
    : parameter;
}
