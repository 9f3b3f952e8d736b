import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import { diff, type Change } from '#operator/diff/diff.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { planObject, planSummary, planText } from '#operator/reconcile/plan-text.ts';
import { references, release, sample } from '../desired/samples.ts';

const live = build(sample('typical'), references(), release).map(({ object }) => object);

describe('a plan', () => {
  it('of nothing says so', () => {
    expect(planText(changesTo({}))).toBe('nothing to change\n');
    expect(planSummary([])).toBe('0 create, 0 update, 0 delete, 0 refuse; no pod restarts');
  });

  it('tells every object, every field, and whether pods restart and why', () => {
    const changes = changesTo({ image: { tag: '0.2.0', pullPolicy: 'IfNotPresent' }, networkPolicy: false });
    const text = planText(changes);
    expect(text).toContain('update Deployment mainnet-api (restarts pods: the template of the pods changes: ');
    expect(text).toContain(
      '  spec.template.spec.containers[api].image: registry.example.com/tonplane/service:0.1.0 -> registry.example.com/tonplane/service:0.2.0',
    );
    expect(text).toContain('delete NetworkPolicy mainnet-api (no restart: no pod is touched)');
    expect(planSummary(changes)).toMatch(/^0 create, \d+ update, 1 delete, 0 refuse; pods restart in 1 of them$/);
  });

  it('of a hot change restarts nothing, and shows no document whole', () => {
    const changes = changesTo({ trustedProxies: 3 });
    expect(planSummary(changes)).toBe('0 create, 1 update, 0 delete, 0 refuse; no pod restarts');
    for (const line of planText(changes).split('\n')) expect(line.length).toBeLessThan(500);
  });

  it('shows nothing of a Secret', () => {
    const keyring = [{ id: 'a'.repeat(12), sha256: 'b'.repeat(64), plan: 'pro' }];
    const before = build(sample('typical'), references({ keyring }), release).map(({ object }) => object);
    const after = build(sample('typical'), references({ keyring: [], keyringShardsSettled: 1 }), release);
    const text = planText(diff(sample('typical'), after, before));
    expect(text).toContain('update Secret mainnet-keyring-0');
    expect(text).toContain('(secret) -> (secret)');
  });

  it('names what a person must make possible', () => {
    const foreign = {
      ...live.find(({ kind }) => kind === 'Ingress'),
      metadata: { name: 'mainnet-api', namespace: 'ton' },
    } as KubernetesObject;
    const others = live.filter(({ kind }) => kind !== 'Ingress');
    const changes = diff(sample('typical'), build(sample('typical'), references(), release), [...others, foreign]);
    expect(planText(changes)).toMatch(/^refuse Ingress mainnet-api: Ingress mainnet-api is there already and nobody's/);
  });

  it('is put into a ConfigMap of the TonApi', () => {
    const object = planObject(sample('typical'), changesTo({ trustedProxies: 3 }), release);
    expect(object).toMatchObject({
      kind: 'ConfigMap',
      metadata: { name: 'mainnet-plan', ownerReferences: [{ kind: 'TonApi' }] },
    });
    expect(object.data?.['plan.txt']).toContain('update ConfigMap mainnet-config');
  });
});

function changesTo(changes: Parameters<typeof sample>[1]): Change[] {
  return diff(sample('typical'), build(sample('typical', changes), references(), release), live);
}
