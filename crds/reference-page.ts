import { parse } from 'yaml';

import { cell } from './generated-file.ts';
import type { Definition, Schema } from './schema.ts';

const head = `<!-- Generated from crds/*.yaml by \`npm run generate\`. Do not edit. -->

# Custom resources

A typical manifest with its fields, then every field of both kinds, as \`kubectl explain\` shows them.
Samples: [smallest](samples/smallest.yaml), [typical](samples/typical.yaml), [full](samples/full.yaml).
A field in bold must be given; \`[]\` is each element of a list.
`;

/**
 * Returns the reference of the custom resources in Markdown. It begins with a typical TonApi and the fields that it sets.
 *
 * @param typical text of the sample, whose first document is the TonApi
 */
export function referencePage(definitions: readonly Definition[], typical: string): string {
  return [head, ...typicalChapter(definitions, typical), ...definitions.map(chapter)].join('\n');
}

function typicalChapter(definitions: readonly Definition[], typical: string): string[] {
  const [text = ''] = typical.split(/^---\n/m);
  const { kind, spec } = parse(text) as { readonly kind: string; readonly spec: unknown };
  const version = definitions.find((definition) => definition.spec.names.kind === kind)?.spec.versions[0];
  const paths = new Set(pathsOf(spec, 'spec'));
  const fields = fieldsOf(version?.schema.openAPIV3Schema.properties?.['spec'] ?? {}, 'spec');
  const rows = fields.filter(({ path }) => paths.has(path)).map(({ row }) => row);
  return ['## A typical TonApi', '', '```yaml', text.trimEnd(), '```', '', ...fieldHead, ...rows, ''];
}

/** Returns paths of the values without fields of their own, in the form of `fieldsOf`. */
function pathsOf(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((element) => pathsOf(element, `${path}[]`))];
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, field]) => pathsOf(field, `${path}.${name}`));
}

function chapter({ spec }: Definition): string {
  const { kind, shortNames, plural } = spec.names;
  const [version] = spec.versions;
  if (version === undefined) throw new TypeError(`${kind} has no version`);
  const root = version.schema.openAPIV3Schema;
  const selectors = version.selectableFields.map(({ jsonPath }) => code(jsonPath.slice(1)));
  const columns = version.additionalPrinterColumns.map(({ name, priority }) => (priority === 1 ? `[${name}]` : name));
  const part = (name: 'spec' | 'status'): string[] => {
    const schema = root.properties?.[name] ?? {};
    return [`### ${kind} ${name}`, '', schema.description ?? '', '', ...fieldTable(schema, name), ''];
  };
  return [
    `## ${kind}`,
    '',
    root.description ?? '',
    '',
    `\`kubectl get ${plural}\`, also ${shortNames.map(code).join(', ')} and, both kinds together, \`kubectl get ton\`.`,
    `Columns: ${columns.join(', ')} (in brackets with \`-o wide\`). Selected by \`--field-selector\`: ${selectors.join(', ')}.`,
    '',
    ...part('spec'),
    `### ${kind} rules`,
    '',
    'What the API server refuses beyond the form of a field:',
    '',
    ...rulesOf(root, '').map(({ path, message }) => `- ${path === '' ? '' : `${code(path)}: `}${message}`),
    '',
    ...part('status'),
  ].join('\n');
}

function fieldTable(schema: Schema, path: string): string[] {
  return [...fieldHead, ...fieldsOf(schema, path).map(({ row }) => row)];
}

const fieldHead = ['| Field | Type | Default | Meaning |', '|---|---|---|---|'] as const;

/** Returns all fields below a schema, each with its row of a table. */
function fieldsOf(schema: Schema, path: string): { readonly path: string; readonly row: string }[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const at = `${path}.${name}`;
    const needed = schema.required?.includes(name) === true;
    const shown = code(at.replace(/^(spec|status)\./, ''));
    const preset = field.default === undefined ? '' : code(JSON.stringify(field.default).replaceAll('"', ''));
    const row = `| ${needed ? `**${shown}**` : shown} | ${typeOf(field)} | ${preset} | ${cell(meaningOf(field))} |`;
    const inner = field.type === 'array' ? fieldsOf(field.items ?? {}, `${at}[]`) : fieldsOf(field, at);
    return [{ path: at, row }, ...inner];
  });
}

function meaningOf({ description = '', title }: Schema): string {
  return title === 'hot' ? `${description} A change needs no restart.`.trimStart() : description;
}

function typeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.map((value) => code(value)).join(' ');
  if (schema['x-kubernetes-int-or-string'] === true) {
    return schema.pattern?.endsWith('%$') === true ? 'number or percent' : 'quantity';
  }
  if (schema.type === 'array') {
    const of = typeOf(schema.items ?? {});
    return `list of ${of}${schema.maxItems === undefined ? '' : `, at most ${schema.maxItems}`}`;
  }
  if (schema.additionalProperties) return `map of ${typeOf(schema.additionalProperties)}`;
  const { minimum, maximum } = schema;
  if (minimum !== undefined && maximum !== undefined) return `${schema.type}, ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `${schema.type}, at least ${minimum}`;
  return schema.type ?? 'object';
}

function rulesOf(schema: Schema, path: string): { path: string; message: string }[] {
  return [
    ...(schema['x-kubernetes-validations'] ?? []).map(({ message }) => ({ path, message })),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
      rulesOf(field, path === '' ? name : `${path}.${name}`),
    ),
    ...(schema.items ? rulesOf(schema.items, `${path}[]`) : []),
  ];
}

function code(text: string): string {
  return `\`${text}\``;
}
