import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Ajv } from 'ajv';
import { parse } from 'yaml';

import { projectRoot } from '#test/style/sources.ts';

type Node = { readonly [name: string]: unknown };

/** What the custom resource's schema has against a status: the server would refuse or prune it. */
export function validateStatus(kind: 'TonApi' | 'TonApiKey', status: unknown): string[] {
  const file = join(projectRoot, `crds/${kind.toLowerCase()}s.tonplane.dev.yaml`);
  const definition = parse(readFileSync(file, 'utf8'));
  const schema = closed(definition.spec.versions[0].schema.openAPIV3Schema.properties.status) as object;
  const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
  validate(status);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Unknown fields are pruned by the server: here they are mistakes. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const fields = Object.fromEntries(Object.entries(node as Node).map(([name, value]) => [name, closed(value)]));
  return 'properties' in fields ? { ...fields, additionalProperties: false } : fields;
}
