import { trace } from '@opentelemetry/api';
import { Registry } from 'prom-client';
import { Agent } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createClient, type KubernetesClient } from '#operator/kubernetes/client.ts';
import type { Credentials } from '#operator/kubernetes/credentials.ts';
import { createClientMetrics } from '#operator/kubernetes/metrics.ts';
import { resources } from '#operator/kubernetes/resources.ts';
import {
  configMap,
  json,
  list,
  refusal,
  startScriptedApiServer,
  type Scene,
  type ScriptedApiServer,
} from '#test/support/scripted-api-server.ts';

const name = { namespace: 'ns', name: 'a' };
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: name, data: { future: 'field' } };

const html: Scene = (_request, response) => {
  response.end('<html>');
};

describe('the client', () => {
  let api: ScriptedApiServer;
  let register: Registry;
  let mayWrite: boolean;
  let client: KubernetesClient;
  const dispatcher = new Agent();

  beforeEach(async () => {
    api = await startScriptedApiServer();
    register = new Registry();
    mayWrite = true;
    const credentials: Credentials = {
      server: api.server,
      namespace: undefined,
      current: async () => ({ dispatcher, headers: { authorization: 'Bearer t' } }),
      reload: () => {},
      close: async () => {},
    };
    client = createClient({
      credentials,
      metrics: createClientMetrics(register),
      tracer: trace.getTracer('test'),
      now: () => performance.now(),
      mayWrite: () => mayWrite,
    });
  });
  afterEach(() => api.close());

  it('applies by name, with manager and force, as plain JSON', async () => {
    let body = '';
    let headers: Record<string, unknown> = {};
    api.play((request, response) => {
      headers = request.headers;
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => json(200, configMap('a', 7))(request, response));
    });
    const answer = await client.apply(object, { manager: 'm', force: true, dryRun: true });
    expect(answer.metadata.resourceVersion).toBe('7');
    expect(api.requests).toEqual(['PATCH /api/v1/namespaces/ns/configmaps/a?fieldManager=m&force=true&dryRun=All']);
    expect(headers).toMatchObject({ 'content-type': 'application/apply-patch+yaml', authorization: 'Bearer t' });
    expect(JSON.parse(body)).toEqual(object);
  });

  it('sends a text that JSON allows and YAML does not, in a form that both read', async () => {
    let body = '';
    api.play((request, response) => {
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => json(200, configMap('a', 7))(request, response));
    });
    await client.apply({ ...object, data: { log: 'a\u009fb\ud83d' } }, { manager: 'm', force: true });
    expect(body).toContain('"log":"a\\u009fb\ufffd"');
  });

  it('the client requests metadata alone of objects whose values are secret', async () => {
    let accept: unknown;
    api.play((request, response) => {
      accept = request.headers['accept'];
      json(200, { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' } })(
        request,
        response,
      );
    });
    await client.getMetadata(resources.Secret, name);
    expect(accept).toBe('application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1');
  });

  it('answers undefined for what is not there, and takes a deletion of it for done', async () => {
    api.play(refusal(404));
    expect(await client.get(resources.Secret, name)).toBeUndefined();
    await client.delete(resources.Secret, name, 'uid');
    expect(api.requests.at(-1)).toBe('DELETE /api/v1/namespaces/ns/secrets/a');
  });

  it.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [409, 'conflict'],
    [410, 'gone'],
    [422, 'refused'],
    [400, 'refused'],
    [429, 'throttled'],
    [503, 'server'],
  ] as const)('says of status %d that it is %s, in the words of the server', async (status, code) => {
    api.play(refusal(status, { 'retry-after': '3' }));
    const error: unknown = await client
      .apply(object, { manager: 'm', force: false })
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code, data: { status, retryAfterMs: 3000 } });
    expect((error as Error).message).toContain(`refused with ${status}`);
  });

  it('says which fields are in the way of an apply', async () => {
    const causes = [{ reason: 'FieldManagerConflict', message: 'conflict with "hpa"', field: '.spec.replicas' }];
    api.play(
      json(409, {
        kind: 'Status',
        metadata: {},
        code: 409,
        message: 'conflict',
        reason: 'Conflict',
        details: { causes },
      }),
    );
    const error: unknown = await client
      .apply(object, { manager: 'm', force: false })
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({ data: { reason: 'Conflict', causes: [{ field: '.spec.replicas' }] } });
  });

  it('gives up on a server that does not answer in time, and at once when it is told to', async () => {
    api.play(() => {});
    await expect(client.get(resources.Secret, name, { timeoutMs: 50 })).rejects.toMatchObject({ code: 'timeout' });
    const stop = new AbortController();
    const waiting = client.get(resources.Secret, name, { signal: stop.signal });
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
  });

  it.each([
    ['no JSON', html],
    ['no object', json(200, [1])],
  ])('does not believe an answer that is %s', async (_what, scene) => {
    api.play(scene);
    await expect(client.get(resources.Secret, name)).rejects.toMatchObject({ code: 'malformed' });
  });

  it('lets no write leave while it may not write, and every read', async () => {
    api.play(json(200, configMap('a', 1)));
    mayWrite = false;
    await expect(client.apply(object, { manager: 'm', force: true })).rejects.toMatchObject({ code: 'not_leader' });
    await expect(client.delete(resources.Secret, name, 'u')).rejects.toMatchObject({ code: 'not_leader' });
    expect(await client.get(resources.ConfigMap, name)).toBeDefined();
    expect(api.requests).toEqual(['GET /api/v1/namespaces/ns/configmaps/a']);
  });

  it('asks at the moment the bytes leave, not when the request is made', async () => {
    api.play(json(200, configMap('a', 1)));
    const writing = client.apply(object, { manager: 'm', force: true });
    mayWrite = false;
    await expect(writing).rejects.toMatchObject({ code: 'not_leader' });
    expect(api.requests).toEqual([]);
  });

  it('counts each request by its status', async () => {
    api.play(list(1), refusal(500), (_request, response) => void response.destroy());
    await client.list(resources.Secret, {});
    await client.get(resources.Secret, name).catch(() => undefined);
    await client.get(resources.Secret, name).catch(() => undefined);
    const text = await register.getSingleMetricAsString('rest_client_requests_total');
    for (const code of ['200', '500', '<error>']) expect(text).toMatch(new RegExp(`code="${code}",method="GET",.* 1`));
  });
});
