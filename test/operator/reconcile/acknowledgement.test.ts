import { describe, expect, it } from 'vitest';

import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { acknowledgementOf } from '#operator/reconcile/acknowledgement.ts';
import type { PodReport } from '#operator/reconcile/pod-reports.ts';

const wanted = { hotHash: 'new', keyringSha256: 'keys' };

function pod(uid: string, ready = true): KubernetesObject {
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: uid, uid }, status: { conditions } };
}

function report(configHash: string, keyringSha256?: string): PodReport {
  return { version: undefined, configHash, liteServers: undefined, keyringSha256 };
}

const isApi = ({ metadata }: KubernetesObject): boolean => metadata.name.startsWith('a');

/** Names of the pods that are behind, and when they are asked again; pods are of the API where their name begins with `a`. */
function acknowledged(pods: readonly KubernetesObject[], reports: Readonly<Record<string, PodReport>>) {
  const found = acknowledgementOf(
    { pods: pods.filter(isApi), metadataPods: pods.filter((one) => !isApi(one)) },
    new Map(Object.entries(reports)),
    wanted,
  );
  return [found.behind.map(({ metadata }) => metadata.name), found.requeueAfterMs];
}

describe('pods that are to take over a configuration', () => {
  it('are left alone once every ready one has said that it has it', () => {
    const reports = { a: report('new', 'keys'), m: report('new') };
    expect(acknowledged([pod('a'), pod('m'), pod('a-starting', false)], reports)).toEqual([[], undefined]);
  });

  it('are asked again in a second while one has another configuration or keyring', () => {
    expect(acknowledged([pod('a'), pod('a2')], { a: report('new', 'keys'), a2: report('old', 'keys') })).toEqual([
      ['a2'],
      1000,
    ]);
    expect(acknowledged([pod('a')], { a: report('new', 'other keys') })).toEqual([['a'], 1000]);
    expect(acknowledged([pod('m')], { m: report('old') })).toEqual([['m'], 1000]);
  });

  it('are asked again, and not nudged, when a ready one did not answer: nothing else would tell that it has caught up', () => {
    expect(acknowledged([pod('a'), pod('a2')], { a: report('new', 'keys') })).toEqual([[], 5000]);
    expect(acknowledged([pod('m')], {})).toEqual([[], 5000]);
  });
});
