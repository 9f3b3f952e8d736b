import type { Definition, Schema } from './schema.ts';

const head = `<!-- Generated from crds/*.yaml by \`npm run generate\`. Do not edit. -->

# Custom resources

Every field of both kinds, as \`kubectl explain\` tells it. Samples: [smallest](samples/smallest.yaml), [typical](samples/typical.yaml),
[full](samples/full.yaml). A field in bold must be given; \`[]\` is each element of a list.
`;

/** The reference of the custom resources, in Markdown. */
export function referencePage(definitions: readonly Definition[]): string {
  return [head, ...definitions.map(chapter)].join('\n');
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
  return ['| Field | Type | Default | Meaning |', '|---|---|---|---|', ...rowsOf(schema, path)];
}

function rowsOf(schema: Schema, path: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const at = `${path}.${name}`;
    const needed = schema.required?.includes(name) === true;
    const shown = code(at.replace(/^(spec|status)\./, ''));
    const preset = field.default === undefined ? '' : code(JSON.stringify(field.default).replaceAll('"', ''));
    const row = `| ${needed ? `**${shown}**` : shown} | ${typeOf(field)} | ${preset} | ${cell(field.description ?? '')} |`;
    const inner = field.type === 'array' ? rowsOf(field.items ?? {}, `${at}[]`) : rowsOf(field, at);
    return [row, ...inner];
  });
}

function typeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.map((value) => code(value)).join(' ');
  if (schema['x-kubernetes-int-or-string'] === true) return 'quantity';
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

/** A text inside of a table. */
function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`).replaceAll('<', '&lt;');
}
