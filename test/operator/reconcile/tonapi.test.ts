import { beforeEach, describe, expect, it } from 'vitest';

import { childNames } from '#operator/desired/names.ts';
import type { TonApi } from '#operator/resource.ts';
import { release, sample } from '#test/operator/desired/samples.ts';
import { createVirtualClock, type VirtualClock } from '#test/support/virtual-clock.ts';
import { reconcilerScene } from './reconciler-scene.ts';

let clock: VirtualClock;

function named(name: string, annotations: Record<string, string> = {}): TonApi {
  const tonApi = sample('smallest');
  return { ...tonApi, metadata: { ...tonApi.metadata, name, uid: name, annotations } };
}

beforeEach(() => {
  clock = createVirtualClock();
});

describe('the status of a TonApi whose writes fail', () => {
  const tonApi = sample('typical');
  const unknownKind = { status: 404, message: 'the server could not find the requested resource' };

  it('follows the generation from the second failure on, with the words of the server', async () => {
    const scene = reconcilerScene(clock, [tonApi]);
    scene.refused.set('PrometheusRule', unknownKind);
    await expect(scene.reconcile(tonApi, 0)).rejects.toMatchObject({ code: 'not_found' });
    expect(scene.statusOf(tonApi)).toBe(undefined);
    await expect(scene.reconcile(tonApi, 1)).rejects.toMatchObject({ code: 'not_found' });
    expect(scene.statusOf(tonApi)?.observedGeneration).toBe(1);
    expect(scene.condition(tonApi, 'Ready')).toMatch(/^False\/ServerError: PATCH PrometheusRule .* could not find/);
  });

  it('is as usual once the kind is served', async () => {
    const scene = reconcilerScene(clock, [tonApi]);
    scene.refused.set('PrometheusRule', unknownKind);
    await expect(scene.reconcile(tonApi, 1)).rejects.toThrow('could not find');
    scene.refused.clear();
    expect(await scene.reconcile(tonApi, 2)).toMatchObject({ type: 'done' });
    expect(scene.condition(tonApi, 'Ready')).not.toContain('ServerError');
  });
});

describe('the turn of a rollout', () => {
  const [a, b, c] = [named('a'), named('b'), named('c')];
  const newer = { ...release, image: 'registry.example.com/tonplane/service:0.2.0' };

  /** TonApis with the pods of an older operator. */
  async function upgraded(...tonApis: readonly TonApi[]) {
    const scene = reconcilerScene(clock, tonApis);
    for (const tonApi of tonApis) await scene.reconcile(tonApi);
    scene.install(newer);
    return scene;
  }

  it.each([
    ['paused', { 'tonplane.dev/paused': 'an audit' }, 'new pods wait for the end of the pause'],
    ['in plan mode', { 'tonplane.dev/plan': 'true' }, 'new pods wait for the end of plan mode'],
  ])('is not asked for by a TonApi that is %s, and its status says why no pod starts', async (_how, given, message) => {
    const scene = await upgraded(a, b);
    scene.edit(a, { metadata: named('a', given).metadata });
    await scene.reconcile(a);
    expect(scene.condition(a, 'Progressing')).toContain(message);
    await scene.reconcile(b);
    expect([scene.imageOf(a), scene.imageOf(b)]).toEqual([release.image, newer.image]);
    scene.edit(a, { metadata: a.metadata });
    await clock.advance(30_000);
    await scene.reconcile(b);
    await scene.reconcile(a);
    expect(scene.imageOf(a)).toBe(newer.image);
  });

  it.each([
    ['refuses', 422],
    ['does not answer to', 503],
    ['forbids', 403],
    ['knows nothing of', 404],
  ])('goes to the next where the API server %s the new template', async (_how, status) => {
    const scene = await upgraded(a, b);
    scene.refused.set(`Deployment ton/${childNames(a).api}`, { status, message: 'no' });
    await scene.reconcile(a).catch(() => undefined);
    await scene.reconcile(b);
    expect([scene.imageOf(a), scene.imageOf(b)]).toEqual([release.image, newer.image]);
  });

  it('is one at a time, and each that waits hears of its new place', async () => {
    const scene = await upgraded(a, b, c);
    scene.roll(true);
    for (const tonApi of [a, b, c]) await scene.reconcile(tonApi);
    expect(scene.condition(c, 'Progressing')).toContain('waits for a rollout slot, 2nd of 2');
    scene.roll(false);
    await scene.reconcile(a);
    await clock.advance(30_000);
    expect(scene.called).toEqual(['ton/b']);
    scene.roll(true);
    await scene.reconcile(b);
    expect(scene.called).toEqual(['ton/b', 'ton/c']);
    await scene.reconcile(c);
    expect(scene.condition(c, 'Progressing')).toContain('waits for a rollout slot, 1st of 1');
    expect([a, b, c].map((tonApi) => scene.imageOf(tonApi))).toEqual([newer.image, newer.image, release.image]);
  });
});
