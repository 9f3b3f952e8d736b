import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import type { Caches } from '#operator/reconcile/caches.ts';
import { createKeyRevocation } from '#operator/reconcile/key-revocation.ts';
import type { Keyrings } from '#operator/reconcile/keyrings.ts';
import type { TonApi, TonApiKey } from '#operator/resource.ts';
import { makeKey } from '#service/limits/keys.ts';
import { sample, sampleKey } from '#test/operator/desired/samples.ts';

const bounds = { signal: new AbortController().signal };
const nothing = { revoke: [], restore: [] };
const made = makeKey(randomBytes);

/** A key whose status has the ids, with this reason of Ready. */
function key(spec: Partial<TonApiKey['spec']>, reason: string, ids: readonly string[] = ['of-status']): TonApiKey {
  const ready = { type: 'Ready', status: 'True', reason, message: '', lastTransitionTime: '' };
  return { ...sampleKey(spec), status: { activeKeyIds: ids, conditions: [ready] } } as unknown as TonApiKey;
}

type Cluster = {
  readonly hasApi?: boolean;
  readonly redisAnswers?: boolean;
  readonly acknowledged?: boolean;
  readonly inKeyring?: readonly string[];
  readonly tonApi?: TonApi;
  /** Components of the pods of the TonApi. */
  readonly pods?: readonly string[];
};

/** A TonApi, its Redis and its keyring; `written` has the writes to Redis. */
function cluster(given: Cluster = {}) {
  const { hasApi = true, redisAnswers = true, acknowledged = true, inKeyring = [], pods = ['api'] } = given;
  const { tonApi = sample('smallest') } = given;
  const written: string[] = [];
  const write = (verb: string) => async (_tonApi: unknown, ids: readonly string[]) => {
    if (ids.length === 0) return true;
    written.push(`${verb} ${ids.join(' ')}`);
    return redisAnswers;
  };
  const secret = { metadata: { name: 'key' }, data: { key: Buffer.from(made.key).toString('base64') } };
  const revocation = createKeyRevocation({
    caches: {
      tonApi: () => (hasApi ? tonApi : undefined),
      child: () => secret,
      pods: () => pods.map((name) => ({ metadata: { name, labels: { 'app.kubernetes.io/component': name } } })),
    } as unknown as Caches,
    keyrings: {
      isAcknowledged: () => acknowledged,
      has: (_api: unknown, id: string) => inKeyring.includes(id),
    } as unknown as Keyrings,
    revocations: { add: write('revoke'), remove: write('restore') },
  });
  return { revocation, written };
}

describe('the revocation of a key', () => {
  it('a disabled key is revoked with all its ids, and restored with them when it is enabled', async () => {
    const { revocation, written } = cluster();
    expect(await revocation.writeToRedis(key({ disabled: true }, 'Active'), nothing, bounds)).toBe(true);
    expect(await revocation.writeToRedis(key({ disabled: false }, 'Disabled'), nothing, bounds)).toBe(true);
    expect(written).toEqual([`revoke ${made.id} of-status`, `restore ${made.id} of-status`]);
  });

  it('a key whose state is in Redis is not written again', async () => {
    const { revocation, written } = cluster();
    await revocation.writeToRedis(key({ disabled: true }, 'Disabled'), nothing, bounds);
    await revocation.writeToRedis(key({ disabled: false }, 'Active'), nothing, bounds);
    expect(written).toEqual([]);
  });

  it('each id that a rotation ends or brings back is written once', async () => {
    const { revocation, written } = cluster();
    const decision = { revoke: ['a', 'a', 'b'], restore: ['c', 'c'] };
    await revocation.writeToRedis(key({ disabled: false }, 'Active'), decision, bounds);
    expect(written).toEqual(['revoke a b', 'restore c']);
  });

  it('a key is not revoked in Redis while Redis is away', async () => {
    const { revocation } = cluster({ redisAnswers: false });
    expect(await revocation.writeToRedis(key({ disabled: true }, 'Active'), nothing, bounds)).toBe(false);
  });

  it('a key without its TonApi has nothing to write, and is out of force', async () => {
    const { revocation, written } = cluster({ hasApi: false });
    expect(await revocation.writeToRedis(key({ disabled: true }, 'Active'), nothing, bounds)).toBe(true);
    expect(revocation.isOut(key({}, 'Active'))).toBe(true);
    expect(written).toEqual([]);
  });

  it.each([
    ['while pods have another keyring', { acknowledged: false }, false],
    ['while the keyring has one of its ids', { inKeyring: ['of-status'] }, false],
    ['when all pods have a keyring without its ids', { inKeyring: ['other'] }, true],
  ])('a key is out of force by the keyring %s: %o', (_when, given, expected) => {
    expect(cluster(given).revocation.isOut(key({}, 'Active'))).toBe(expected);
  });

  const asleep = sample('smallest', { hibernate: true });
  const unacknowledged = { acknowledged: false, pods: [] } as const;
  it.each<[string, Cluster, boolean]>([
    ['hibernates without pods', { ...unacknowledged, tonApi: asleep }, true],
    ['hibernates, and a pod is ending', { ...unacknowledged, tonApi: asleep, pods: ['api-canary'] }, false],
    ['hibernates, and the keyring has the key', { ...unacknowledged, tonApi: asleep, inKeyring: ['of-status'] }, false],
    ['wants no pods', { ...unacknowledged, tonApi: sample('smallest', { replicas: 0 }), pods: ['redis'] }, true],
    ['has no pod yet', { ...unacknowledged, tonApi: sample('smallest', { replicas: 2 }) }, false],
  ])('a key of a TonApi that %s is out of force: %o', (_which, given, expected) => {
    expect(cluster(given).revocation.isOut(key({}, 'Active'))).toBe(expected);
  });
});
