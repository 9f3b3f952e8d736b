import { Ajv2020 } from 'ajv/dist/2020.js';
import formatsPlugin from 'ajv-formats';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { describeDev } from '#service/devchain/dev/openapi.ts';
import { createEmulate } from '#service/emulate/emulate.ts';
import { emulateTonConnectOperation } from '#service/emulate/operations/emulate-ton-connect.ts';
import { emulateTraceOperation } from '#service/emulate/operations/emulate-trace.ts';
import { describeStreaming } from '#service/http/openapi-streaming.ts';
import { describeEmulate, describeV3 } from '#service/http/openapi-v3.ts';
import { v3Families } from '#service/main/wiring/v3-families.ts';
import { createV3 } from '#service/v3/v3.ts';
import { startListener, type Listener } from './listener.ts';
import { request } from './requests.ts';

/** Documents are made of operations, which ask nothing for it. */
const unused = new Proxy({}, { get: () => ({}) }) as never;

const documentId = 'http://document.test/defaults';

let listener: Listener;

beforeAll(async () => {
  listener = await startListener();
});
afterAll(() => listener.close());

const documents: Readonly<Record<string, () => unknown>> = {
  v2: async () => (await request(`${listener.url}/api/v2/openapi.json`)).body,
  v3: () => {
    const parts = { clock: () => 0, random: () => 0, register: new Registry() };
    const { operations } = v3Families({ network: 'mainnet' }, unused, unused, parts);
    return describeV3(createV3(operations, { store: unused, nowMs: () => 0, register: new Registry() }));
  },
  emulate: () => describeEmulate(createEmulate([emulateTraceOperation(unused), emulateTonConnectOperation(unused)])),
  streaming: () => describeStreaming('1.0.0'),
  dev: () => describeDev('1.0.0'),
};

type Place = { readonly pointer: string; readonly value: unknown };

/** Values of this keyword in a document, with the pointers of their schemas. A property may have the same name. */
function* findDefaults(node: unknown, pointer = ''): Generator<Place> {
  if (typeof node !== 'object' || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    if (key === 'default' && !pointer.endsWith('/properties')) yield { pointer, value };
    else yield* findDefaults(value, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}

describe('a default in a document', () => {
  it.each(Object.keys(documents))('is valid for its own schema: %s', async (name) => {
    const document = JSON.parse(JSON.stringify(await documents[name]!())) as object;
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    formatsPlugin.default(ajv);
    ajv.addSchema({ $id: documentId, ...document });
    const wrong = [...findDefaults(document)].filter(
      ({ pointer, value }) => !ajv.validate({ $ref: `${documentId}#${encodeURI(pointer)}` }, value),
    );
    expect(wrong).toEqual([]);
  });

  it('is in the documents of v2, v3 and the emulation', async () => {
    for (const name of ['v2', 'v3', 'emulate']) {
      const found = [...findDefaults(await documents[name]!())];
      expect([name, found.length > 0]).toEqual([name, true]);
    }
  });
});
