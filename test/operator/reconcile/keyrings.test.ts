import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { keyOf } from '#operator/kubernetes/object.ts';
import { build } from '#operator/desired/build.ts';
import { createKeyrings } from '#operator/reconcile/keyrings.ts';
import type { PodReport } from '#operator/reconcile/pod-reports.ts';
import { references, release, sample } from '#test/operator/desired/samples.ts';

const tonApi = sample('smallest');

/** The Secret with the keyring of one key, as it is stored. */
function stored(id: string): KubernetesObject {
  const row = { id, sha256: createHash('sha256').update(id).digest('hex'), plan: 'pro' };
  const desired = build(tonApi, references({ keyring: [row], keyringShardsSettled: 1 }), release);
  return desired.map(({ object }) => object).find(({ kind }) => kind === 'Secret')!;
}

const first = stored('aaaaaaaaaaaa');
const second = stored('bbbbbbbbbbbb');

/** Keyrings over a cache with this Secret. */
function keyringsOver(secret: KubernetesObject | undefined) {
  const cache = { secret };
  const child = (_kind: string, key: string): KubernetesObject | undefined =>
    key.endsWith(`/${cache.secret?.metadata.name}`) ? cache.secret : undefined;
  return { keyrings: createKeyrings({ caches: { child } }), cache };
}

const report = (keyringSha256: string | undefined): PodReport => ({ keyringSha256 }) as PodReport;

describe('the stored keyring of a TonApi', () => {
  it('a keyring has the ids of its Secret, and changes with it', () => {
    const { keyrings, cache } = keyringsOver(first);
    const hash = keyrings.sha256(tonApi);
    expect([keyrings.has(tonApi, 'aaaaaaaaaaaa'), keyrings.has(tonApi, 'bbbbbbbbbbbb')]).toEqual([true, false]);
    cache.secret = second;
    expect([keyrings.has(tonApi, 'aaaaaaaaaaaa'), keyrings.has(tonApi, 'bbbbbbbbbbbb')]).toEqual([false, true]);
    expect(keyrings.sha256(tonApi)).not.toBe(hash);
  });

  it('a TonApi without a Secret has no keyring, and nothing is acknowledged', () => {
    const { keyrings } = keyringsOver(undefined);
    expect([keyrings.has(tonApi, 'aaaaaaaaaaaa'), keyrings.sha256(tonApi)]).toEqual([false, undefined]);
    expect(keyrings.note(tonApi, [report(undefined)])).toBe(false);
    expect(keyrings.isAcknowledged(tonApi)).toBe(false);
  });

  it('a keyring is acknowledged once every ready pod reports it, and not by no pod', () => {
    const { keyrings } = keyringsOver(first);
    const hash = keyrings.sha256(tonApi);
    expect(keyrings.note(tonApi, [])).toBe(false);
    expect(keyrings.note(tonApi, [report(hash), undefined])).toBe(false);
    expect(keyrings.note(tonApi, [report(hash), report('another')])).toBe(false);
    expect(keyrings.isAcknowledged(tonApi)).toBe(false);
    expect(keyrings.note(tonApi, [report(hash), report(hash)])).toBe(true);
    expect(keyrings.note(tonApi, [report(hash)])).toBe(false);
    expect(keyrings.isAcknowledged(tonApi)).toBe(true);
  });

  it('an acknowledgement ends with another keyring, and with the TonApi', () => {
    const { keyrings, cache } = keyringsOver(first);
    keyrings.note(tonApi, [report(keyrings.sha256(tonApi))]);
    cache.secret = second;
    expect(keyrings.isAcknowledged(tonApi)).toBe(false);
    cache.secret = first;
    expect(keyrings.isAcknowledged(tonApi)).toBe(true);
    keyrings.forget(keyOf(tonApi));
    expect(keyrings.isAcknowledged(tonApi)).toBe(false);
  });
});
