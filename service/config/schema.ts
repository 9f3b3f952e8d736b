import { Ajv, type ErrorObject } from 'ajv';

import { shown, type ConfigProblem } from './errors.ts';
import { formats } from './formats.ts';
import { tonApiSchema } from './manifest.gen.ts';

/** Node of the schema, with the keywords that problems mention. */
type SchemaNode = {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly maxProperties?: number;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly uniqueBy?: string;
};

/** Descriptions of the patterns in the schema. */
const patternWords: Readonly<Record<string, string>> = {
  '^[A-Za-z0-9+/]{43}=$': 'base64 of 32 bytes (44 characters)',
  '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$': 'lower-case letters, digits and inner hyphens',
  '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$': 'lower-case letters, digits, inner hyphens and dots',
  '^([A-Za-z0-9.-]+|\\[[0-9a-fA-F:]+\\]):[0-9]{1,5}$': 'host:port or [v6]:port',
  '^(0(\\.[0-9]+)?|1(\\.0+)?)$': 'a decimal from 0 to 1 as text',
  '^(0|([0-9]+(\\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+)$': formats.duration.words,
  '^https?://[A-Za-z0-9.-]+(:[1-9][0-9]{0,4})?(/[A-Za-z0-9._~/-]*)?$':
    'an http or https URL without credentials, query or fragment',
};

/** Text formats that fields of the TonApi have. */
const textFormats = ['duration', 'uri'] as const;

const formatWords: Readonly<Record<string, string>> = Object.fromEntries(
  textFormats.map((name) => [name, formats[name].words]),
);

/** Validator shared by all manifests, because compiling it takes as long as about a hundred validations. */
let compiled: ReturnType<Ajv['compile']> | undefined;

/** Problems of shape. `misshapen`: values that differ from the schema and cannot be read. `repeated`: well-formed values that appear twice. */
export type SchemaProblems = {
  readonly misshapen: readonly ConfigProblem[];
  readonly repeated: readonly ConfigProblem[];
};

/** Checks a manifest against the schema of the custom resource and fills in the defaults, in place. */
export function validateManifest(manifest: unknown): SchemaProblems {
  compiled ??= compileSchema();
  const errors = compiled(manifest) ? [] : (compiled.errors ?? []);
  const misshapen = errors.filter((error) => !isRepeated(error)).map(problemOf);
  return {
    // A value may break several keywords (type and pattern, both branches of an anyOf). Only the first is reported.
    misshapen: [...new Map(misshapen.toReversed().map((problem) => [problem.path, problem])).values()].toReversed(),
    repeated: errors.filter(isRepeated).map(repeatOf),
  };
}

function isRepeated({ keyword }: ErrorObject): boolean {
  return keyword === 'uniqueBy' || keyword === 'uniqueItems';
}

function compileSchema(): ReturnType<Ajv['compile']> {
  const ajv = new Ajv({ allErrors: true, useDefaults: true, verbose: true, strict: true, strictTypes: false });
  for (const name of textFormats) ajv.addFormat(name, formats[name].isReadable);
  // Every whole number of the schema has bounds within its format.
  ajv.addFormat('int32', true);
  ajv.addFormat('int64', true);
  ajv.addKeyword({
    keyword: 'uniqueBy',
    type: 'array',
    schemaType: 'string',
    errors: false,
    validate: (key: string, list: readonly unknown[]) => {
      const values = list.flatMap((item) =>
        typeof item === 'object' && item !== null ? [(item as Readonly<Record<string, unknown>>)[key]] : [],
      );
      return new Set(values).size === values.length;
    },
  });
  return ajv.compile(tonApiSchema);
}

function problemOf(error: ErrorObject): ConfigProblem {
  const path = pathOf(error.instancePath);
  const node = (error.parentSchema ?? {}) as SchemaNode;
  if (error.keyword === 'required') {
    const name = String(error.params['missingProperty']);
    return {
      path: joinPath(path, name),
      expected: `expected ${expectation(node.properties?.[name] ?? {})}, got nothing`,
    };
  }
  if (error.keyword === 'additionalProperties') {
    const names = Object.keys(node.properties ?? {}).join(', ');
    return {
      path: joinPath(path, String(error.params['additionalProperty'])),
      expected: `expected no such field, only ${names}`,
    };
  }
  if (error.keyword === 'maxLength') {
    return { path, expected: `expected at most ${node.maxLength} characters, got ${shown(error.data)}` };
  }
  return { path, expected: `expected ${expectation(node)}, got ${shown(error.data)}` };
}

/** Returns a problem at the second of two equal values, or of two objects with one name. */
function repeatOf({ instancePath, keyword, parentSchema, params, data }: ErrorObject): ConfigProblem {
  const path = pathOf(instancePath);
  const list = Array.isArray(data) ? (data as readonly unknown[]) : [];
  if (keyword === 'uniqueItems') {
    const index = Math.max(Number(params['i']), Number(params['j']));
    return { path: `${path}[${index}]`, expected: `expected each value once, got ${shown(list[index])} again` };
  }
  const field = String((parentSchema as SchemaNode | undefined)?.uniqueBy);
  const values = list.map((item) => (item as Readonly<Record<string, unknown>> | null)?.[field]);
  const index = values.findIndex((value, at) => values.indexOf(value) < at);
  return {
    path: `${path}[${index}].${field}`,
    expected: `expected each ${field} once, got ${shown(values[index])} again`,
  };
}

/** Describes the expected value of a node in words. */
function expectation(node: SchemaNode): string {
  if (node.enum) return `one of ${node.enum.join(', ')}`;
  switch (node.type) {
    case 'integer':
      return node.maximum === undefined
        ? `a whole number from ${node.minimum ?? 0}`
        : `a whole number from ${node.minimum ?? 0} to ${node.maximum}`;
    case 'string':
      return textExpectation(node);
    case 'array':
      return `a list of ${node.minItems ?? 0} to ${node.maxItems ?? 'any'} elements`;
    case 'boolean':
      return 'true or false';
    default:
      return node.maxProperties === undefined ? 'an object' : `an object of at most ${node.maxProperties} fields`;
  }
}

function textExpectation(node: SchemaNode): string {
  if (node.pattern !== undefined) return patternWords[node.pattern] ?? `text of the form ${node.pattern}`;
  if (node.format !== undefined) return formatWords[node.format] ?? `text of the format ${node.format}`;
  return node.maxLength === undefined ? 'text' : `text of at most ${node.maxLength} characters`;
}

/** `/spec/plans/0/burst` -> `spec.plans[0].burst`. */
function pathOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : joinPath(path, part)), '');
}

function joinPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
