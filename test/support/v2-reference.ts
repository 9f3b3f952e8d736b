import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formatsPlugin from 'ajv-formats';

import type { Json, OpenApi } from '#test/service/http/reference.ts';

/** Words of OpenAPI that are no JSON Schema; a strict compiler wants to know them. */
const openApiWords = ['openapi', 'info', 'servers', 'security', 'tags', 'paths', 'components', 'discriminator', 'xml'];

/** Judges answers by the response schemas that a document gives path, method and status. */
export type AnswerJudge = {
  /** What is wrong with an answer; empty when nothing is. */
  flaws(route: { path: string; method: string; status: number }, answer: unknown): unknown[];
  /** Fields of the result's objects that do not stand in the order in which the schemas name them. */
  disorder(schemaName: string, value: unknown): string[];
};

/** Judges of a thread by their schemas: a compilation takes up to a second of CPU. */
const judges = new Map<string, AnswerJudge>();

export function createAnswerJudge(document: OpenApi): AnswerJudge {
  const schemas = JSON.stringify([document.components, document.paths]);
  const judge = judges.get(schemas) ?? compileJudge(document);
  judges.set(schemas, judge);
  return judge;
}

function compileJudge(document: OpenApi): AnswerJudge {
  const ajv = new Ajv2020({
    strict: true,
    allErrors: true,
    allowUnionTypes: true,
    strictTypes: false,
    strictRequired: false,
  });
  formatsPlugin.default(ajv);
  ajv.addVocabulary(openApiWords);
  ajv.addSchema({ $id: documentId, components: document.components, paths: document.paths });
  const validators = new Map<string, ValidateFunction>();

  const compile = (pointer: string): ValidateFunction => {
    let validate = validators.get(pointer);
    if (validate === undefined) {
      validate = ajv.compile({ $ref: `${documentId}${pointer}` });
      validators.set(pointer, validate);
    }
    return validate;
  };

  const at = (pointer: string): Json =>
    pointer
      .slice(2)
      .split('/')
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((node, step) => (node as Json)[step], document) as Json;

  /** Follows references and chooses the branch that the value satisfies. */
  const resolve = (pointer: string, value: unknown): string | undefined => {
    const node = at(pointer);
    if (typeof node['$ref'] === 'string') return resolve(node['$ref'], value);
    for (const word of ['oneOf', 'anyOf']) {
      const branches = node[word];
      if (!Array.isArray(branches)) continue;
      const index = branches.findIndex((_branch, number) => compile(`${pointer}/${word}/${number}`)(value));
      return index < 0 ? undefined : resolve(`${pointer}/${word}/${index}`, value);
    }
    return pointer;
  };

  const walk = (pointer: string, value: unknown, place: string): string[] => {
    if (typeof value !== 'object' || value === null) return [];
    const found = resolve(pointer, value);
    if (found === undefined) return [];
    const node = at(found);
    if (Array.isArray(value)) {
      return 'items' in node ? value.flatMap((item, index) => walk(`${found}/items`, item, `${place}[${index}]`)) : [];
    }
    const named = Object.keys(node['properties'] ?? {});
    const shown = Object.keys(value).filter((key) => named.includes(key));
    const wanted = named.filter((key) => shown.includes(key));
    return [
      ...(shown.join() === wanted.join() ? [] : [`${place}: ${shown.join()} instead of ${wanted.join()}`]),
      ...shown.flatMap((key) => walk(`${found}/properties/${key}`, (value as Json)[key], `${place}.${key}`)),
    ];
  };

  return {
    flaws({ path, method, status }, answer) {
      const responses = document.paths[path]?.[method.toLowerCase()]?.['responses'] as Json | undefined;
      const response = responses?.[status] as Json | undefined;
      if (response === undefined) return [`no answer ${status} in the document`];
      const base = `#/paths/${path.replaceAll('/', '~1')}/${method.toLowerCase()}/responses/${status}`;
      const pointer = `${typeof response['$ref'] === 'string' ? response['$ref'] : base}/content/application~1json/schema`;
      const validate = compile(pointer);
      return validate(answer) ? [] : [...(validate.errors ?? [])];
    },
    disorder: (schemaName, value) => walk(`#/components/schemas/${schemaName}`, value, '$'),
  };
}

const documentId = 'http://document.test/judged';
