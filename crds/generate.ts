import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { parse } from 'yaml';

import { chartTemplate } from './chart-template.ts';
import { closedSchema } from './closed-schema.ts';
import { settle, settleAll, type GeneratedFile } from './generated-file.ts';
import { referencePage } from './reference-page.ts';
import type { Definition, Schema } from './schema.ts';

const header =
  '// Generated from crds/*.yaml by `npm run generate`. Do not edit: change the YAML and generate again.\n';

/** Makes every generated file from the custom resources. With `check` no file is written; an outdated file is not `clean`. */
export async function generate(options: { readonly check: boolean }): Promise<GeneratedFile[]> {
  const sources = await Promise.all(
    ['tonapis', 'tonapikeys'].map(async (plural) => {
      const name = `${plural}.tonplane.dev.yaml`;
      const text = await readFile(join(import.meta.dirname, name), 'utf8');
      return { name, text, definition: parse(text) as Definition };
    }),
  );
  const definitions = sources.map(({ definition }) => definition);
  const typical = await readFile(join(import.meta.dirname, 'samples/typical.yaml'), 'utf8');
  const outputs = [
    { path: 'service/config/manifest.gen.ts', text: manifestSource(definitions) },
    { path: 'crds/README.md', text: referencePage(definitions, typical) },
    ...sources.map(({ name, text }) => ({ path: `charts/tonplane/templates/crds/${name}`, text: chartTemplate(text) })),
  ];
  return Promise.all(outputs.map(({ path, text }) => settle(path, text, options)));
}

/** Types of both resources, and the schema of TonApi in the form that ajv reads. */
function manifestSource(definitions: readonly Definition[]): string {
  const schemas = definitions.map(({ spec }) => ({
    kind: spec.names.kind,
    schema: spec.versions[0]?.schema.openAPIV3Schema ?? {},
  }));
  const types = schemas.map(({ kind, schema }) => `${docOf(schema)}export type ${kind} = ${typeOf(schema)};\n`);
  const tonApi = schemas.find(({ kind }) => kind === 'TonApi')?.schema ?? {};
  const closed = JSON.stringify(
    closedSchema({ ...tonApi, properties: { ...tonApi.properties, status: { type: 'object' } } }),
  );
  return [
    header,
    ...types,
    '/** JSON schema of a TonApi: unknown fields are refused (metadata and status are open), `uniqueBy` names the key of a list of named objects. */',
    `export const tonApiSchema: Readonly<Record<string, unknown>> = ${closed};\n`,
    '/** Paths of the fields of the spec that take effect without a restart: those with `title: hot`. */',
    `export const hotFields = ${JSON.stringify(hotFieldsOf(tonApi.properties?.['spec'] ?? {}))} as const;\n`,
  ].join('\n');
}

/** Returns the paths of the hot fields below a schema. A field below a list is not hot by itself. */
function hotFieldsOf({ properties = {} }: Schema): string[] {
  return Object.entries(properties).flatMap(([name, field]) =>
    field.title === 'hot' ? [name] : hotFieldsOf(field).map((path) => `${name}.${path}`),
  );
}

/** Returns the TypeScript type of a stored value. The API server fills in defaults, so a field with a default is always present. */
function typeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema['x-kubernetes-int-or-string'] === true) return 'number | string';
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'integer':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return `readonly (${typeOf(schema.items ?? {})})[]`;
    default:
      return objectType(schema);
  }
}

function objectType(schema: Schema): string {
  if (schema.additionalProperties) return `Readonly<Record<string, ${typeOf(schema.additionalProperties)}>>`;
  if (schema.properties === undefined) return 'Readonly<Record<string, unknown>>';
  const fields = Object.entries(schema.properties).map(([name, property]) => {
    const always = schema.required?.includes(name) === true || property.default !== undefined;
    return `${docOf(property)}readonly ${name}${always ? '' : '?'}: ${typeOf(property)};`;
  });
  const more = schema['x-kubernetes-preserve-unknown-fields'] === true ? ' & Readonly<Record<string, unknown>>' : '';
  return `{ ${fields.join('\n')} }${more}`;
}

function docOf(schema: Schema): string {
  return schema.description === undefined ? '' : `/** ${schema.description.replaceAll('*/', '*\\/')} */\n`;
}

if (import.meta.main) await settleAll(generate);
