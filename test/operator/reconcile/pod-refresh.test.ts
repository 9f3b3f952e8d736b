import { pino } from 'pino';
import { describe, expect, it } from 'vitest';

import { fromStatus } from '#operator/kubernetes/errors.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { createPodRefresh } from '#operator/reconcile/pod-refresh.ts';

const bounds = { signal: new AbortController().signal };
const content = 'abcdef0123456789 and more';
const announced = 'abcdef0123456789';

function pod(name: string, last?: string): KubernetesObject {
  const annotations = last === undefined ? {} : { 'tonplane.dev/config-nudge': last };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'ton', annotations } };
}

/** Pods whose patch the server answers with these statuses. */
function server(statuses: Readonly<Record<string, number>> = {}, enabled = true) {
  const patched: string[] = [];
  const writer = {
    async patch(_of: unknown, { name }: { readonly name: string }) {
      patched.push(name);
      const status = statuses[name];
      if (status !== undefined) throw fromStatus('PATCH', status, { message: 'no' }, undefined);
      return pod(name);
    },
  };
  const refresh = createPodRefresh({ enabled }, { writer, logger: pino({ level: 'silent' }) });
  return { refresh: (...pods: readonly KubernetesObject[]) => refresh.pods(pods, content, bounds), patched };
}

describe('pods with files behind the stored ones', () => {
  it('each pod gets each content once', async () => {
    const { refresh, patched } = server();
    await refresh(pod('a'), pod('b', announced), pod('c', 'older'));
    expect(patched).toEqual(['a', 'c']);
  });

  it('a pod that has ended is passed over', async () => {
    const { refresh, patched } = server({ a: 404 });
    await refresh(pod('a'), pod('b'));
    expect(patched).toEqual(['a', 'b']);
  });

  it('an operator that may not patch pods tries once', async () => {
    const { refresh, patched } = server({ a: 403 });
    await refresh(pod('a'), pod('b'));
    await refresh(pod('b'));
    expect(patched).toEqual(['a']);
  });

  it('an operator without the option patches no pod', async () => {
    const { refresh, patched } = server({}, false);
    await refresh(pod('a'));
    expect(patched).toEqual([]);
  });

  it('a failure of the server is passed on', async () => {
    await expect(server({ a: 500 }).refresh(pod('a'))).rejects.toMatchObject({ code: 'server' });
  });
});
