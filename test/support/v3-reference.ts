import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import type { OpenApi } from '#test/service/http/reference.ts';
import { projectRoot } from '#test/style/sources.ts';
import { createAnswerJudge, type AnswerJudge } from './v2-reference.ts';

const file = resolve(projectRoot, 'test/vectors/toncenter/v3.openapi.json');

/** The published contract of v3. */
export const v3Reference = JSON.parse(readFileSync(file, 'utf8')) as OpenApi;

const path = '/emulation';
const component = (name: string): object => ({ $ref: `#/components/schemas/${name}` });

/** Objects of v3 in an answer of the emulation. The published contract has no path for the emulation. */
const emulated = {
  type: 'object',
  required: ['trace', 'transactions', 'actions'],
  properties: {
    trace: component('TraceNode'),
    transactions: {
      type: 'object',
      propertyNames: component('Hash'),
      additionalProperties: component('Transaction'),
    },
    actions: { type: 'array', items: component('Action') },
    address_book: component('AddressBook'),
    metadata: component('Metadata'),
  },
};

const deleteDns = 'DetailsDeleteDns';

/** The published schemas with the field of a known difference (v3-differences.ts): a deleted record also has its key as `key`. */
function amendedSchemas(): OpenApi['components']['schemas'] {
  const { schemas } = v3Reference.components;
  const published = schemas[deleteDns]!;
  const properties = { ...(published['properties'] as object), key: { type: ['string', 'null'] } };
  return { ...schemas, [deleteDns]: { ...published, properties } };
}

/** Judges the objects of v3 in answers of the emulation by the published contract. Returns what is wrong. */
export function createEmulationJudge(): (answer: unknown) => readonly unknown[] {
  const post = { responses: { 200: { content: { 'application/json': { schema: emulated } } } } };
  const components = { ...v3Reference.components, schemas: amendedSchemas() };
  const judge = createAnswerJudge({ ...v3Reference, components, paths: { [path]: { post } } });
  return (answer) => judge.flaws({ path, method: 'POST', status: 200 }, answer);
}

/** Judges answers by the published contract. */
export function createV3Judge(): AnswerJudge {
  return createAnswerJudge(v3Reference);
}
