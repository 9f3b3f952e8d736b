import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { parse, parseAllDocuments } from 'yaml';

const folder = resolve(import.meta.dirname, '../../../crds');

/** A node of a custom resource's schema. */
export type Schema = {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly 'x-kubernetes-validations'?: readonly {
    readonly rule: string;
    readonly message: string;
    readonly fieldPath?: string;
  }[];
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
};

/** A schema node and where it stands: `spec.plans[].burst`, `` for the root. */
export type Field = { readonly path: string; readonly schema: Schema };

/** The schema of a custom resource, by its plural. */
export function schemaOf(plural: string): Schema {
  const definition = parse(readFileSync(join(folder, `${plural}.tonplane.dev.yaml`), 'utf8'));
  return definition.spec.versions[0].schema.openAPIV3Schema as Schema;
}

/** The versions of a custom resource, as the definition has them. */
export function versionsOf(plural: string): readonly { readonly name: string; readonly storage: boolean }[] {
  return parse(readFileSync(join(folder, `${plural}.tonplane.dev.yaml`), 'utf8')).spec.versions;
}

/** Every field of a schema, elements of lists included. */
export function fieldsOf(schema: Schema, path = ''): Field[] {
  const properties = Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    fieldsOf(property, path === '' ? name : `${path}.${name}`),
  );
  return [{ path, schema }, ...properties, ...(schema.items ? fieldsOf(schema.items, `${path}[]`) : [])];
}

/** Text of a sample, and its documents. */
export function sample(name: string): { text: string; documents: Record<string, unknown>[] } {
  const text = readFileSync(join(folder, 'samples', `${name}.yaml`), 'utf8');
  return { text, documents: parseAllDocuments(text).map((document) => document.toJS() as Record<string, unknown>) };
}

/** Paths of the values of an object, as `fieldsOf` writes them. */
export function pathsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((element) => pathsOf(element, `${path}[]`))];
  if (typeof value !== 'object' || value === null) return [path];
  const fields = Object.entries(value).flatMap(([name, field]) =>
    pathsOf(field, path === '' ? name : `${path}.${name}`),
  );
  return [path, ...fields];
}
