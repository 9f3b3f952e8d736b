import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Operation } from '#service/contract/operation.ts';
import { reference, type Json, type OpenApi } from '#test/service/http/reference.ts';
import type { Way } from '#test/service/http/requests.ts';
import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';
import { documentDifferences, knownDifferences } from '#test/support/v2-differences.ts';
import { badValues } from '../support/v2-bad-requests.ts';
import { createAnswerJudge, type AnswerJudge } from '#test/support/v2-reference.ts';
import { operations, readScenes, requestsTo, type Params } from '#test/support/v2-scenes.ts';
import { ask, pathOf, callStylesOf, type AttemptResult } from '../support/v2-call-styles.ts';

const table = operations.map((operation) => [operation.name, operation] as const);

/** An answer with its examples, as the published document has them. */
type Described = {
  readonly content: {
    readonly 'application/json': {
      readonly examples: Record<string, { readonly value: Json & { readonly result: Json } }>;
    };
  };
};

let api: ApiUnderTest;
let judge: AnswerJudge;
let scenes: Params[] = [];

const service = () => ({ url: api.api.url, key: api.key });

describe('the contract over HTTP', () => {
  beforeAll(async () => {
    judge = createAnswerJudge(reference);
    api = await startApiUnderTest({ behindBlocks: 0 });
    scenes = await readScenes(api);
  });
  afterAll(() => api.close());

  it('is judged by one who sees a wrong type, a missing field and a wrong order', () => {
    const route = { path: pathOf('getMasterchainInfo'), method: 'GET', status: 200 };
    const responses = reference.paths[route.path]!['get']!['responses'] as Record<string, Described>;
    const good = Object.values(responses['200']!.content['application/json'].examples)[0]!.value;
    expect([judge.flaws(route, good), judge.disorder('GetMasterchainInfoResponse', good)]).toEqual([[], []]);
    const { '@type': type, last, ...rest } = good.result;
    expect(judge.flaws(route, { ...good, result: { ...good.result, last: '' } })).not.toEqual([]);
    expect(judge.flaws(route, { ...good, result: { '@type': type, ...rest } })).not.toEqual([]);
    expect(judge.flaws({ ...route, status: 201 }, good)).not.toEqual([]);
    const turned = { ...good, result: { last, '@type': type, ...rest } };
    expect(judge.disorder('GetMasterchainInfoResponse', turned)).not.toEqual([]);
  });

  it('the service serves the paths of the v2 contract and no other path', () => {
    const ours = operations.flatMap(({ name, aliases }) => [name, ...aliases]).map(pathOf);
    const pages = ['/api/v2/jsonRPC', '/api/v2/healthcheck', '/healthcheck', '/api/v2/openapi.json'];
    expect([...ours, ...pages].toSorted()).toEqual(Object.keys(reference.paths).toSorted());
  });

  it.each(table)(
    '%s: every way gives the same good answer, in the published form and order',
    async (_name, operation) => {
      const requests = requestsTo(operation, scenes);
      let successes = 0;
      for (const params of requests) {
        const answers = await askAll(operation, params);
        for (const [way, answer] of answers)
          expect({ way, params, flaws: flawsOf(operation.name, way, answer) }).toEqual({ way, params, flaws: [] });
        const [, { status }] = answers[0]!;
        if (status === 200) successes += 1;
        expect(statusesOf(operation)).toContain(status);
        const [first, ...others] = answers.map(([, answer]) => contentOf(answer));
        for (const other of others) expect(other).toEqual(first);
      }
      expect(successes).toBeGreaterThan(0);
    },
  );

  it.each(table)(
    '%s: refuses a parameter that is missing or bad, in the words of the contract',
    async (_name, operation) => {
      const good = requestsTo(operation, scenes)[0] ?? {};
      for (const [params, message] of mistakesOf(operation, good)) {
        for (const [way, answer] of await askAll(operation, params)) {
          const { status, body } = answer;
          const told = { way, params, status, error: body['error'], flaws: flawsOf(operation.name, way, answer) };
          expect(told).toEqual({ way, params, status: 422, error: message, flaws: [] });
        }
      }
    },
  );

  it.each(table)('%s: refuses a wrong method and an unknown key', async (_name, operation) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE'] as const) {
      const url = `${api.api.url}${pathOf(operation.name)}`;
      const known = (operation.methods as readonly string[]).includes(method);
      const response = await fetch(url, { method, headers: { 'x-api-key': known ? 'nobody' : api.key } });
      const body: unknown = await response.json();
      const status = known ? 401 : 405;
      expect(response.status).toBe(status);
      const described = operation.methods[0]!;
      expect(judge.flaws({ path: pathOf(operation.name), method: described, status }, body)).toEqual([]);
    }
  });

  it('of our own document agrees with the published one but for a list of differences, each with its reason', async () => {
    const ours = (await (await fetch(`${api.api.url}/api/v2/openapi.json`)).json()) as OpenApi;
    const found = documentDifferences(ours, reference);
    expect(found.filter((place) => !knownDifferences.some(({ at }) => at.test(place)))).toEqual([]);
    expect(knownDifferences.filter(({ at }) => !found.some((place) => at.test(place))).map(({ why }) => why)).toEqual(
      [],
    );
  });
});

/**
 * What a good request may get: the recording has no message, no token, no such block; an account may be no resolver of names, and
 * the document's own bags of cells hold no message.
 */
function statusesOf({ name }: Operation): readonly number[] {
  return [200, 400, 404, 409, 500, ...(name === 'dnsResolve' || name.startsWith('sendBoc') ? [422] : [])];
}

async function askAll(operation: Operation, params: Params): Promise<(readonly [Way, AttemptResult])[]> {
  return Promise.all(
    callStylesOf(operation).map(async (way) => [way, await ask(service(), way, operation.name, params)] as const),
  );
}

/** What is wrong with an answer by the published document. */
function flawsOf(operation: string, way: Way, { status, type, body }: AttemptResult): unknown[] {
  const route =
    way === 'JSON-RPC'
      ? { path: pathOf('jsonRPC'), method: 'POST', status }
      : { path: pathOf(operation), method: way, status };
  const name = `${operation.charAt(0).toUpperCase()}${operation.slice(1)}${way === 'JSON-RPC' ? 'Rpc' : ''}Response`;
  return [
    ...(type === 'application/json' ? [] : [type]),
    ...judge.flaws(route, body),
    ...(status === 200 ? judge.disorder(name, body) : body['code'] === status ? [] : [body['code']]),
  ];
}

/** An answer without what tells when and how it was made. */
function contentOf({ status, body }: AttemptResult): Json {
  const { '@extra': _extra, jsonrpc: _version, id: _id, ...content } = body;
  return { status, ...content };
}

/** Requests with one mistake each, made of a good one, and the message that they must get. */
function mistakesOf({ parameters }: Operation, good: Params): [Params, string][] {
  return parameters.flatMap(({ name, missing }) => {
    const { [name]: _left, ...without } = good;
    const bad = badValues(name).map(([value, message]): [Params, string] => [{ ...good, [name]: value }, message]);
    return missing === undefined ? bad : [[without, missing] as [Params, string], ...bad];
  });
}
