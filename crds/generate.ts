import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import { format } from 'oxfmt';
import { parse } from 'yaml';

import { chartTemplate } from './chart-template.ts';
import { referencePage } from './reference-page.ts';
import type { Definition, Schema } from './schema.ts';

/** A file that is made from the custom resources, and whether it already was as it must be. */
export type GeneratedFile = { readonly path: string; readonly clean: boolean };

const root = resolve(import.meta.dirname, '..');

const header =
  '// Generated from crds/*.yaml by `npm run generate`. Do not edit: change the YAML and generate again.\n';

/** Makes every generated file from the custom resources. With `check` nothing is written: a file that is not `clean` differs from what would be. */
export async function generate(options: { readonly check: boolean }): Promise<GeneratedFile[]> {
  const sources = await Promise.all(
    ['tonapis', 'tonapikeys'].map(async (plural) => {
      const name = `${plural}.tonplane.dev.yaml`;
      const text = await readFile(join(import.meta.dirname, name), 'utf8');
      return { name, text, definition: parse(text) as Definition };
    }),
  );
  const definitions = sources.map(({ definition }) => definition);
  const outputs = [
    { path: 'service/config/manifest.gen.ts', text: manifestSource(definitions) },
    { path: 'crds/README.md', text: referencePage(definitions) },
    ...sources.map(({ name, text }) => ({ path: `charts/tonplane/templates/crds/${name}`, text: chartTemplate(text) })),
  ];
  return Promise.all(outputs.map(({ path, text }) => settle(path, text, options.check)));
}

async function settle(path: string, text: string, check: boolean): Promise<GeneratedFile> {
  const style = JSON.parse(await readFile(join(root, '.oxfmtrc.json'), 'utf8'));
  const settled = path.endsWith('.ts') ? (await format(path, text, style)).code : text;
  const file = join(root, path);
  const present = await readFile(file, 'utf8').catch(() => undefined);
  const clean = present === settled;
  if (!clean && !check) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, settled);
  }
  return { path, clean };
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
  ].join('\n');
}

/** The TypeScript type of a value that the API server has stored: defaults are filled in, so a field with a default is always there. */
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
  return `{ ${fields.join('\n')} }`;
}

function docOf(schema: Schema): string {
  return schema.description === undefined ? '' : `/** ${schema.description.replaceAll('*/', '*\\/')} */\n`;
}

/** What only people and the API server read is dropped; what the API server does by itself (closed objects, unique lists) is said. */
function closedSchema(schema: Schema): object {
  const plain = Object.entries(schema).filter(
    ([name]) =>
      !name.startsWith('x-kubernetes-') &&
      !['description', 'properties', 'items', 'additionalProperties'].includes(name),
  );
  const keys = schema['x-kubernetes-list-map-keys'];
  return {
    ...Object.fromEntries(plain),
    ...(schema.properties && { properties: mapValues(schema.properties, closedSchema), additionalProperties: false }),
    ...(schema.additionalProperties && { additionalProperties: closedSchema(schema.additionalProperties) }),
    ...(schema.items && { items: closedSchema(schema.items) }),
    ...(schema['x-kubernetes-list-type'] === 'set' && { uniqueItems: true }),
    ...(Array.isArray(keys) && { uniqueBy: keys[0] }),
  };
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

if (import.meta.main) {
  const check = process.argv.includes('--check');
  const files = await generate({ check });
  for (const { path, clean } of files)
    process.stdout.write(`${path}: ${clean ? 'clean' : check ? 'differs' : 'written'}\n`);
  if (check && files.some(({ clean }) => !clean)) process.exitCode = 1;
}
