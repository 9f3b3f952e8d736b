import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formatsPlugin from 'ajv-formats';

import { projectRoot } from '#test/style/sources.ts';

const file = resolve(projectRoot, 'test/vectors/toncenter/v2.openapi.json');

const documentId = 'http://document.test/v2';

export type Json = Record<string, unknown>;

export type OpenApi = {
  readonly paths: Record<string, Record<string, Json>>;
  readonly components: { readonly schemas: Record<string, Json> } & Json;
};

/** The published contract of v2. */
export const reference = JSON.parse(readFileSync(file, 'utf8')) as OpenApi;

const compilers = new WeakMap<OpenApi, Ajv2020>();

/** A validator of one schema of a document's components. */
export function schemaOf(document: OpenApi, name: string): ValidateFunction {
  let ajv = compilers.get(document);
  if (ajv === undefined) {
    ajv = new Ajv2020({ strict: false, allErrors: true });
    formatsPlugin.default(ajv);
    ajv.addSchema({ $id: documentId, components: document.components });
    compilers.set(document, ajv);
  }
  const validate = ajv.getSchema(`${documentId}#/components/schemas/${name}`);
  if (validate === undefined) throw new Error(`no schema ${name} in the document`);
  return validate;
}
