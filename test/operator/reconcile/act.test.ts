import { describe, expect, it } from 'vitest';

import type { Stage } from '#operator/desired/references.ts';
import type { Change } from '#operator/diff/diff.ts';
import type { KubernetesClient } from '#operator/kubernetes/client.ts';
import { fromStatus } from '#operator/kubernetes/errors.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { act } from '#operator/reconcile/act.ts';
import { createDriftLog } from '#operator/reconcile/drift-log.ts';
import type { Writer } from '#operator/reconcile/writer.ts';
import { sample } from '#test/operator/desired/samples.ts';

const tonApi = sample('smallest');
const bounds = { signal: new AbortController().signal };
const restart = { restart: false, why: 'a test' };

function service(name: string, spec: Readonly<Record<string, unknown>> = {}): KubernetesObject {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'ton', uid: `uid-${name}` }, spec };
}

const create = (stage: Stage, name: string): Change => ({
  action: 'create',
  desired: { stage, object: service(name) },
  restart,
});

const edit = (name: string, spec: Readonly<Record<string, unknown>>): Change => ({
  action: 'update',
  desired: { stage: 'exposure', object: service(name, spec) },
  live: service(name),
  cause: 'edit',
  fields: [],
  restart,
  adopt: false,
});

const drift = (name: string): Change => ({
  ...(edit(name, {}) as Extract<Change, { action: 'update' }>),
  cause: 'drift',
  fields: [{ path: 'spec.type', before: 'NodePort', after: 'ClusterIP' }],
});

/** An answer of the API server to a write. */
function answer(status: number, message: string, fields: readonly string[] = []): Error {
  const causes = fields.map((field) => ({ field, message: 'of another' }));
  return fromStatus('PATCH', status, { message, details: { causes } }, undefined);
}

/** An API server that answers the first writes of these names with these errors. */
function server(answers: Readonly<Record<string, readonly Error[]>> = {}) {
  const done: string[] = [];
  const left = new Map(Object.entries(answers).map(([name, errors]) => [name, [...errors]]));
  const write = async (verb: string, { metadata }: Pick<KubernetesObject, 'metadata'>): Promise<KubernetesObject> => {
    const error = left.get(metadata.name)?.shift();
    done.push(`${verb} ${metadata.name}${error === undefined ? '' : ' refused'}`);
    if (error !== undefined) throw error;
    return service(metadata.name);
  };
  const writer = {
    apply: (object: KubernetesObject) => write('apply', object),
    create: (object: KubernetesObject) => write('create', object),
    patch: (_of: unknown, metadata: KubernetesObject['metadata']) => write('patch', { metadata }),
    delete: (object: KubernetesObject) => write('delete', object),
  } as unknown as Writer;
  const refused: string[] = [];
  const log = createDriftLog({ now: () => 1_000_000 });
  const dependencies = {
    client: { get: async () => undefined } as unknown as KubernetesClient,
    writer,
    events: { record: async () => undefined },
    metrics: {
      driftCorrected: () => undefined,
      refused: (kind: string, reason: string) => void refused.push(`${kind} ${reason}`),
    },
    drift: log,
  } as unknown as Parameters<typeof act>[2];
  const run = (changes: readonly Change[], failures?: number, signal = bounds.signal) =>
    act(tonApi, changes, dependencies, { signal }, failures);
  return { run, done, refused, log };
}

describe('the changes of a reconcile', () => {
  it('an object that the server refuses holds back no other object of its stage or of a later one', async () => {
    const { run, done, refused } = server({ b: [answer(422, 'spec is invalid')] });
    const acted = await run([create('exposure', 'a'), create('exposure', 'b'), create('monitoring', 'c')]);
    expect(done).toEqual(['create a', 'create b refused', 'create c']);
    expect(acted).toMatchObject({ writes: 2, refusals: [{ reason: 'InvalidValue' }], failure: undefined });
    expect(refused).toEqual(['Service InvalidValue']);
  });

  it('a refused configuration holds back the objects of later stages', async () => {
    const { run, done } = server({ a: [answer(403, 'exceeded quota')] });
    const acted = await run([create('config', 'a'), create('config', 'b'), create('monitoring', 'c')]);
    expect(done).toEqual(['create a refused', 'create b']);
    expect(acted).toMatchObject({ writes: 1, refusals: [{ reason: 'QuotaExceeded' }] });
    expect(acted.failure?.code).toBe('forbidden');
    expect(acted.undone).toHaveLength(2);
  });

  it('a failure of the server is a refusal from the second in a row, and is thrown after the status in each case', async () => {
    const failing = { a: [answer(500, 'etcd is away')] };
    expect(await server(failing).run([create('exposure', 'a')], 0)).toMatchObject({
      refusals: [],
      failure: { code: 'server' },
    });
    expect(await server(failing).run([create('exposure', 'a')], 1)).toMatchObject({
      refusals: [{ reason: 'ServerError' }],
      failure: { code: 'server' },
    });
  });

  it('a conflict over fields of another is a taken name, and any other conflict ends the work', async () => {
    const taken = server({ a: [answer(409, 'conflict with kubectl', ['.spec.type'])] });
    expect(await taken.run([create('exposure', 'a')])).toMatchObject({
      refusals: [{ reason: 'NameTaken', message: expect.stringContaining('Service a belongs to another') as unknown }],
    });
    const changed = server({ a: [answer(409, 'the object has been modified')] });
    const acted = await changed.run([create('exposure', 'a'), create('monitoring', 'b')]);
    expect(changed.done).toEqual(['create a refused']);
    expect(acted).toMatchObject({ refusals: [], failure: { code: 'conflict' } });
  });

  it('an error that is not about the object ends the work after the writes beside it, and leaves the status to be written', async () => {
    const { run, done } = server({ a: [answer(401, 'who are you')] });
    const acted = await run([create('exposure', 'a'), create('exposure', 'b'), create('monitoring', 'c')]);
    expect(done).toEqual(['create a refused', 'create b']);
    expect(acted).toMatchObject({ writes: 1, refusals: [], failure: { code: 'unauthorized' } });
    expect(acted.undone).toHaveLength(2);
  });

  it('a kind that the cluster does not serve is reported from the second failure in a row', async () => {
    const { run } = server({ a: [answer(404, 'the server could not find the requested resource')] });
    const message = expect.stringContaining('could not find') as unknown;
    expect(await run([create('monitoring', 'a')], 1)).toMatchObject({
      refusals: [{ reason: 'ServerError', retried: true, message }],
      failure: { code: 'not_found' },
    });
  });

  it('an aborted reconcile ends without a result', async () => {
    const { run } = server({ a: [answer(500, 'away')] });
    await expect(run([create('exposure', 'a')], 0, AbortSignal.abort(new Error('the end')))).rejects.toThrow('the end');
  });

  it('a refused update replaces the lists of the spec whole before a second try', async () => {
    const { run, done } = server({ a: [answer(422, 'duplicate port')] });
    expect(await run([edit('a', { ports: [1] })])).toMatchObject({ writes: 1, refusals: [] });
    expect(done).toEqual(['apply a refused', 'patch a', 'apply a']);
  });

  it('a refused update without lists has no second try', async () => {
    const { run, done } = server({ a: [answer(422, 'no such type')] });
    expect(await run([edit('a', { type: 'None' })])).toMatchObject({
      writes: 0,
      refusals: [{ reason: 'InvalidValue' }],
    });
    expect(done).toEqual(['apply a refused']);
  });

  it('a deletion that the server refuses is reported', async () => {
    const { run, refused } = server({ a: [answer(403, 'admission webhook denied the request')] });
    const change: Change = { action: 'delete', stage: 'exposure', live: service('a'), restart };
    expect(await run([change])).toMatchObject({ writes: 0, refusals: [{ reason: 'AdmissionDenied' }] });
    expect(refused).toEqual(['Service AdmissionDenied']);
  });

  it('a correction in a fight over a field waits, and other changes do not', async () => {
    const { run, done, log } = server();
    for (let times = 0; times < 6; times++) log.corrected('uid-a', ['spec.type']);
    const acted = await run([drift('a'), create('exposure', 'b')]);
    expect(done).toEqual(['create b']);
    expect(acted).toMatchObject({ writes: 1, requeueAfterMs: 300_000 });
  });
});
