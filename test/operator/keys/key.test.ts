import { createHash } from 'node:crypto';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { decideKey, revokeFinalizer, type KeyDecision, type KeyInput } from '#operator/keys/key.ts';
import { keyringOf } from '#operator/keys/keyring.ts';
import { readMaterial } from '#operator/keys/key-secret.ts';
import { STAGE_MS } from '#operator/keys/rotation.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import type { TonApiKey } from '#operator/resource.ts';
import { keyMatches, parseKey } from '#service/limits/keys.ts';
import { validateStatus } from '#test/operator/status/status-schema.ts';
import { annotated, sample, sampleKey } from '#test/operator/desired/samples.ts';

const noonMs = Date.parse('2026-11-21T12:00:00Z');
const hourMs = 3_600_000;
const tonApi = sample('typical');

describe('a new key', () => {
  it('is 256 random bits in the form that the service reads, in a Secret owned by its resource', () => {
    const { secret, finalizer, revoke } = decideKey(input());
    expect(finalizer).toBe('add');
    expect(revoke).toEqual([]);
    expect(Object.keys(secret?.data ?? {})).toEqual(['key', 'keyId', 'url']);
    expect(parseKey(text(secret, 'key'))).toEqual({ id: text(secret, 'keyId') });
    expect(text(secret, 'url')).toBe('https://ton.example.com');
    expect(secret?.metadata.ownerReferences).toMatchObject([{ kind: 'TonApiKey', controller: true }]);
  });

  it('is never in the status, nor is a hash of it', () => {
    const decision = decideKey(input());
    const key = text(decision.secret, 'key');
    const shown = JSON.stringify(decision.status);
    for (const secret of [key, key.slice(-43), createHash('sha256').update(key).digest('hex')])
      expect(shown).not.toContain(secret);
    expect(validateStatus('TonApiKey', decision.status)).toEqual([]);
  });

  it('is restored in Redis when a Secret brings it back, and when no status has it yet', () => {
    const { tonApiKey, secret } = settled();
    const id = text(secret, 'keyId');
    const { status: _before, ...unseen } = tonApiKey;
    expect(decideKey(input({ tonApiKey, secret })).restore).toEqual([]);
    expect(decideKey(input({ tonApiKey: unseen, secret })).restore).toEqual([id]);
    const made = { ...tonApiKey, status: { ...tonApiKey.status, activeKeyIds: ['made45678901'] } };
    expect(decideKey(input({ tonApiKey: made, secret }))).toMatchObject({ restore: [id], revoke: ['made45678901'] });
    // The key of a new Secret was never revoked.
    expect(decideKey(input()).restore).toEqual([]);
  });

  it.each<[string, Partial<KeyInput>]>([
    ['is disabled', { tonApiKey: withSpec(settled(), { disabled: true }) }],
    ['belongs to another resource by its status', { isOthers: () => true }],
    [
      'is on its way out',
      {
        tonApiKey: {
          ...settled().tonApiKey,
          metadata: { ...settled().tonApiKey.metadata, deletionTimestamp: '2026-11-21T12:00:00Z' },
        },
      },
    ],
  ])('is not restored in Redis when it %s', (_name, changes) => {
    const { tonApiKey, secret } = settled();
    const { status: _before, ...unseen } = changes.tonApiKey ?? tonApiKey;
    expect(decideKey(input({ secret, ...changes, tonApiKey: unseen })).restore).toEqual([]);
  });

  it('is not made again while nothing changes', () => {
    const world = settled();
    const again = decideKey(input(world));
    expect(again.secret).toBeUndefined();
    expect(again.status).toEqual(world.tonApiKey?.status);
  });

  it('is ready when every pod knows it, and stays so while the keyring changes for others', () => {
    const { status: _before, ...unseen } = settled().tonApiKey;
    const waiting = decideKey(input({ ...settled(), tonApiKey: unseen, acknowledged: false }));
    expect(ready(waiting)).toBe('False/Propagating');
    const world = settled();
    expect(ready(decideKey(input(world)))).toBe('True/InForce');
    expect(ready(decideKey(input({ ...world, acknowledged: false })))).toBe('True/InForce');
  });

  it('is not ready in hibernation before a pod knows it, and stays ready when the pods knew it', () => {
    const asleep = sample('typical', { hibernate: true });
    const { status: _before, ...unseen } = settled().tonApiKey;
    const made = decideKey(input({ ...settled(), tonApiKey: unseen, tonApi: asleep, acknowledged: false }));
    expect(conditions(made)).toEqual({ Ready: 'False/Hibernated', ReferencesResolved: 'True/Resolved' });
    expect(ready(decideKey(input({ ...settled(), tonApi: asleep, acknowledged: false })))).toBe('True/InForce');
  });
});

describe('what a key refers to', () => {
  it.each<[string, Partial<KeyInput>, string]>([
    ['a TonApi that is not there', { tonApi: undefined }, 'TonApiNotFound'],
    ['a TonApi that does not allow it', { permitted: false }, 'RefNotPermitted'],
    ['a plan that is not there', { tonApiKey: sampleKey({ plan: 'gold' }) }, 'PlanNotFound'],
  ])('is named when it is %s, and no key is made', (_case, changes, reason) => {
    const { secret, status } = decideKey(input(changes));
    expect(secret).toBeUndefined();
    expect(conditions({ status })).toMatchObject({ Ready: `False/${reason}`, ReferencesResolved: `False/${reason}` });
    expect(status?.conditions?.[0]?.message).toMatch(/, since 2026-11-21T12:00:00Z$/);
  });

  it('leaves the old plan in force when the new one is not there', () => {
    const world = settled();
    const tonApiKey = { ...world.tonApiKey, spec: { ...sampleKey().spec, plan: 'gold' } } as TonApiKey;
    const decision = decideKey(input({ ...world, tonApiKey }));
    expect(conditions(decision)).toMatchObject({ Ready: 'False/PlanNotFound' });
    expect(decision.status?.conditions?.[0]?.message).toContain('plan pro stays in force');
    expect(rows({ ...world, tonApiKey })).toMatchObject([{ plan: 'pro' }]);
  });

  it('may be a Secret name that another has: that is told, and nothing is written', () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'first-customer', namespace: 'ton' } };
    const decision = decideKey(input({ secret }));
    expect(decision.secret).toBeUndefined();
    expect(conditions(decision)).toMatchObject({ Ready: 'False/NameTaken', Stalled: 'True/NameTaken' });
    const messages = decision.status?.conditions?.map(({ message }) => message) ?? [];
    expect(messages.at(-1)).toMatch(/, since 2026-11-21T12:00:00Z$/);
  });

  it.each<[string, string, Partial<TonApiKey>]>([
    ['secretName', 'spec.secretName', { spec: { ...sampleKey().spec, secretName: 'bb-keyring-0' } }],
    ['name', 'metadata.name', { metadata: { ...sampleKey().metadata, name: 'bb-keyring-0' } }],
  ])('is not a Secret name of the operator: a stored %s is named by its field, and nothing is written', (...given) => {
    const [, field, changes] = given;
    const decision = decideKey(input({ tonApiKey: { ...sampleKey(), ...changes } }));
    expect(decision.secret).toBeUndefined();
    expect(conditions(decision)).toMatchObject({ Ready: 'False/NameReserved', Stalled: 'True/NameReserved' });
    const message = decision.status?.conditions?.[0]?.message;
    expect(message).toContain(`${field}: expected a name that does not end in -keyring-NUMBER, got bb-keyring-0`);
  });
});

describe('a time of a key that cannot be read', () => {
  it.each<[string, Partial<TonApiKey['spec']>]>([
    ['expiresAt', { expiresAt: '2027-01-01T00:00:00,5Z' }],
    ['rotation.every', { rotation: { every: '30d', overlap: '24h' } }],
    ['rotation.overlap', { rotation: { every: '720h', overlap: '1d' } }],
  ])('stalls the resource and is named: %s', (field, spec) => {
    const world = settled();
    const decision = decideKey(input({ ...world, tonApiKey: withSpec(world, spec) }));
    expect(conditions(decision)).toMatchObject({ Ready: 'False/InvalidValue', Stalled: 'True/InvalidValue' });
    expect(decision.status?.conditions?.[0]?.message).toContain(`spec.${field}: expected `);
    expect(validateStatus('TonApiKey', decision.status)).toEqual([]);
  });

  it('does not end the old key at once when it is the overlap', () => {
    const world = settled();
    const tonApiKey = withSpec(world, { rotation: { overlap: '1d', trigger: 'now' } });
    const first = decideKey(input({ ...world, tonApiKey }));
    const next = decideKey(input({ ...world, tonApiKey, secret: first.secret, nowMs: noonMs + STAGE_MS }));
    const material = readMaterial(next.secret!);
    expect(material?.previous).toMatchObject([
      { notAfter: new Date(noonMs + STAGE_MS + 24 * hourMs).toISOString().replace('.000', '') },
    ]);
  });

  it('does not hide that a key is disabled: its reason says that Redis refuses the key', () => {
    const world = settled();
    const tonApiKey = withSpec(world, { disabled: true, rotation: { every: '30d', overlap: '24h' } });
    expect(ready(decideKey(input({ ...world, tonApiKey })))).toBe('False/Disabled');
  });
});

describe('a rotation', () => {
  const rotating = { rotation: { every: '720h', overlap: '24h' } };

  it.each<[string, Partial<TonApiKey['spec']>, number]>([
    ['its time has come', rotating, 720 * hourMs],
    ['the trigger changes', { rotation: { overlap: '24h', trigger: 'now' } }, 1000],
  ])(
    'begins when %s: the next key goes to the pods first, the customer keeps the one that works',
    (_case, spec, laterMs) => {
      const world = settled();
      const step = decideKey(input({ ...world, tonApiKey: withSpec(world, spec), nowMs: noonMs + laterMs }));
      expect(text(step.secret, 'key')).toBe(text(world.secret, 'key'));
      expect(parseKey(text(step.secret, 'next-key'))).toBeDefined();
      expect(
        rows({ ...world, secret: step.secret })
          .map(({ id }) => id)
          .toSorted(),
      ).toEqual([...(step.status?.activeKeyIds ?? [])].toSorted());
      expect(step.status?.activeKeyIds).toHaveLength(2);
    },
  );

  it('gives the customer the next key when every pod knows it, and both are in force until the overlap ends', () => {
    const { world, staged } = midRotation();
    const waiting = decideKey(input({ ...staged, acknowledged: false, nowMs: noonMs + 2000 }));
    expect(waiting.secret).toBeUndefined();
    const done = decideKey(input({ ...staged, nowMs: noonMs + 2000 }));
    expect(text(done.secret, 'key')).toBe(text(staged.secret, 'next-key'));
    expect(text(done.secret, 'key')).not.toBe(text(world.secret, 'key'));
    expect(done.status?.lastHandledTrigger).toBe('now');
    const after = rows({ ...staged, secret: done.secret });
    for (const key of [text(world.secret, 'key'), text(done.secret, 'key')]) {
      expect(after.some(({ sha256 }) => keyMatches(key, Buffer.from(sha256, 'hex')))).toBe(true);
    }
    expect(after.find(({ id }) => id === text(world.secret, 'keyId'))?.notAfter).toBe('2026-11-22T12:00:02Z');
    expect(new Set(after.map(({ owner }) => owner))).toEqual(new Set(['ton/first-customer']));
  });

  it('does not wait for pods for ever', () => {
    const { staged } = midRotation();
    const done = decideKey(input({ ...staged, acknowledged: false, nowMs: noonMs + 1000 + STAGE_MS }));
    expect(text(done.secret, 'key')).toBe(text(staged.secret, 'next-key'));
  });

  it('forgets the old key when the overlap is over, and says when to look', () => {
    const { staged } = midRotation();
    const done = decideKey(input({ ...staged, nowMs: noonMs + 2000 }));
    const world = {
      ...staged,
      secret: done.secret,
      tonApiKey: { ...staged.tonApiKey, status: done.status } as TonApiKey,
    };
    expect(done.requeueAfterMs).toBe(24 * hourMs);
    expect(rows(world, noonMs + 25 * hourMs)).toHaveLength(1);
    const over = decideKey(input({ ...world, nowMs: noonMs + 25 * hourMs }));
    expect(over.secret?.data).not.toHaveProperty('previous-keys');
    expect(over.status?.activeKeyIds).toHaveLength(1);
    expect(over.revoke).toEqual([]);
  });

  it('keeps a key in force at every moment, whatever is triggered and whenever pods answer', () => {
    let world: Partial<KeyInput> = settled();
    const seen = new Set<string>();
    for (let step = 1; step <= 60; step++) {
      const before = new Set(rows(world, noonMs + step * 1000).map(({ id }) => id));
      expect(before).toContain(text(world.secret, 'keyId'));
      const tonApiKey = withSpec(world, { rotation: { overlap: '1h', trigger: `t${Math.floor(step / 3)}` } });
      const decision = decideKey(
        input({
          ...world,
          tonApiKey,
          acknowledged: step % 4 !== 0,
          inKeyring: (id) => before.has(id),
          nowMs: noonMs + step * 1000,
        }),
      );
      world = {
        ...world,
        secret: decision.secret ?? world.secret,
        tonApiKey: { ...tonApiKey, status: decision.status } as TonApiKey,
      };
      seen.add(text(world.secret, 'keyId'));
      // Whoever read the Secret a moment ago is still let in.
      expect(before).toContain(text(world.secret, 'keyId'));
      expect(decision.status?.activeKeyIds?.length).toBeLessThanOrEqual(8);
    }
    expect(seen.size).toBeGreaterThan(5);
  });
});

describe('a key goes out of force', () => {
  it('when it is disabled, and comes back as it was', () => {
    const world = settled();
    const disabled = { ...world, tonApiKey: withSpec(world, { disabled: true }) };
    expect(rows(disabled)).toEqual([]);
    const decision = decideKey(input(disabled));
    expect(ready(decision)).toBe('False/Disabled');
    expect(decision.secret).toBeUndefined();
    expect(rows(world)).toHaveLength(1);
  });

  it('when it expires', () => {
    const world = { ...settled(), tonApiKey: withSpec(settled(), { expiresAt: '2026-11-21T13:00:00Z' }) };
    expect(rows(world)).toMatchObject([{ notAfter: '2026-11-21T13:00:00Z' }]);
    expect(rows(world, noonMs + hourMs)).toEqual([]);
    expect(ready(decideKey(input({ ...world, nowMs: noonMs + hourMs })))).toBe('False/Expired');
  });

  it('when it expires, and then nothing is due any more and nothing rotates', () => {
    const spec = { expiresAt: '2026-11-21T13:00:00Z', rotation: { every: '1h', overlap: '30m', trigger: 'again' } };
    const world = { ...settled(), tonApiKey: withSpec(settled(), spec) };
    for (const laterMs of [hourMs, hourMs + 1, 1000 * hourMs]) {
      const { requeueAfterMs, secret, status } = decideKey(input({ ...world, nowMs: noonMs + laterMs }));
      expect(requeueAfterMs).toBeUndefined();
      expect(secret).toBeUndefined();
      expect(status).not.toHaveProperty('nextRotationTime');
    }
  });

  it('when it is deleted: every id is revoked, and the resource goes when no keyring has them', () => {
    const world = settled();
    const tonApiKey = {
      ...world.tonApiKey,
      metadata: {
        ...world.tonApiKey?.metadata,
        deletionTimestamp: '2026-11-21T12:00:00Z',
        finalizers: [revokeFinalizer],
      },
    } as TonApiKey;
    expect(rows({ ...world, tonApiKey })).toEqual([]);
    const id = text(world.secret, 'keyId');
    expect(decideKey(input({ ...world, tonApiKey }))).toMatchObject({ revoke: [id], finalizer: 'keep' });
    expect(decideKey(input({ ...world, tonApiKey, inKeyring: () => false }))).toMatchObject({
      revoke: [id],
      finalizer: 'remove',
    });
    expect(decideKey(input({ ...world, tonApiKey, tonApi: undefined }))).toMatchObject({
      revoke: [],
      finalizer: 'remove',
    });
  });

  it.each([
    ['tonplane.dev/paused', 'a fire'],
    ['tonplane.dev/plan', 'true'],
  ])(
    'when it is deleted while its TonApi has %s: the id is revoked, and the resource does not wait for the keyring',
    (name, value) => {
      const world = settled();
      const held = annotated(tonApi, { [name]: value });
      expect(decideKey(input({ ...world, tonApiKey: deleted(world), tonApi: held }))).toMatchObject({
        revoke: [text(world.secret, 'keyId')],
        finalizer: 'remove',
      });
    },
  );

  it('when it is deleted, and its status says what it waits for', () => {
    const world = settled();
    const decision = decideKey(input({ ...world, tonApiKey: deleted(world) }));
    expect(conditions(decision)).toEqual({ Ready: 'False/Revoking', Reconciling: 'True/Revoking' });
    expect(decision.status?.conditions?.[0]?.message).toContain('stays until no keyring has it');
    expect(decision.status?.activeKeyIds).toEqual(world.tonApiKey.status?.activeKeyIds);
    expect(validateStatus('TonApiKey', decision.status)).toEqual([]);
  });

  it('when its Secret is lost: another is made and the lost one is revoked', () => {
    const world = settled();
    const decision = decideKey(input({ ...world, secret: undefined }));
    expect(decision.revoke).toEqual([text(world.secret, 'keyId')]);
    expect(text(decision.secret, 'keyId')).not.toBe(text(world.secret, 'keyId'));
  });
});

describe('the next look at a key', () => {
  const offsetMs = fc.integer({ min: -400 * 24 * hourMs, max: 400 * 24 * hourMs });

  it('lies in the future in every state, and three looks at once leave nothing to do', () => {
    fc.assert(
      fc.property(
        fc.record({
          expires: fc.option(offsetMs, { nil: undefined }),
          everyHours: fc.option(fc.integer({ min: 1, max: 2000 }), { nil: undefined }),
          overlapMinutes: fc.integer({ min: 0, max: 59 }),
          trigger: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
          disabled: fc.boolean(),
          acknowledged: fc.boolean(),
          stepsMs: fc.array(fc.integer({ min: 0, max: 90 * 24 * hourMs }), { maxLength: 6 }),
        }),
        ({ expires, everyHours, overlapMinutes, trigger, disabled, acknowledged, stepsMs }) => {
          const spec = {
            disabled,
            ...(expires !== undefined && { expiresAt: new Date(noonMs + expires).toISOString() }),
            rotation: {
              overlap: `${overlapMinutes}m`,
              ...(everyHours !== undefined && { every: `${everyHours}h` }),
              ...(trigger !== undefined && { trigger }),
            },
          };
          let world: Partial<KeyInput> = { ...settled(), acknowledged };
          let nowMs = noonMs;
          // Steps of any length first, then the looks that the operator itself asks for.
          for (let step = 0; step < stepsMs.length + 12; step += 1) {
            for (let times = 0; times < 3; times += 1) {
              const { secret, status } = decideKey(input({ ...world, tonApiKey: withSpec(world, spec), nowMs }));
              const tonApiKey = { ...withSpec(world, spec), status } as TonApiKey;
              world = { ...world, tonApiKey, secret: secret ?? world.secret };
            }
            const again = decideKey(input({ ...world, nowMs }));
            expect(again.secret).toBeUndefined();
            const { requeueAfterMs = Infinity } = again;
            expect(requeueAfterMs).toBeGreaterThan(0);
            const stepMs = stepsMs[step] ?? requeueAfterMs;
            if (stepMs === Infinity) return;
            nowMs += stepMs;
          }
        },
      ),
    );
  });
});

describe('a Secret that somebody edited', () => {
  it('is repaired where it is not the key', () => {
    const world = settled();
    const edited = { ...world.secret, data: { ...world.secret?.data, url: 'eA==' } } as KubernetesObject;
    const decision = decideKey(input({ ...world, secret: edited }));
    expect(decision.secret?.data).toEqual(world.secret?.data);
  });

  it.each(['eA==', 'bm90LWEta2V5', ''])('is given a new key when its own is none: %s', (key) => {
    const world = settled();
    const edited = { ...world.secret, data: { ...world.secret?.data, key } } as KubernetesObject;
    const decision = decideKey(input({ ...world, secret: edited }));
    expect(parseKey(text(decision.secret, 'key'))).toBeDefined();
    expect(decision.revoke).toEqual([text(world.secret, 'keyId')]);
  });

  it('cannot take the id of another key', () => {
    const [victim, thief] = [settled(), settled(sampleKey(), 'thief')];
    const stolen = { ...thief.secret, data: { ...victim.secret?.data } } as KubernetesObject;
    const id = text(victim.secret, 'keyId');
    const decision = decideKey(input({ ...thief, secret: stolen, isOthers: (other) => other === id }));
    expect(text(decision.secret, 'keyId')).not.toBe(id);
    const older = {
      ...thief.tonApiKey,
      metadata: { ...thief.tonApiKey.metadata, creationTimestamp: '2020-01-01T00:00:00Z' },
    };
    const both = [
      { tonApiKey: older, secret: stolen, permitted: true },
      { tonApiKey: victim.tonApiKey, secret: victim.secret, permitted: true },
    ];
    expect(keyringOf(tonApi, both, noonMs)).toMatchObject([{ id, owner: 'ton/first-customer' }]);
  });
});

type World = { readonly tonApiKey: TonApiKey; readonly secret: KubernetesObject | undefined };

/** A key that is in force. */
function settled(tonApiKey = sampleKey(), name = 'first-customer'): World & Partial<KeyInput> {
  const metadata = {
    ...tonApiKey.metadata,
    name,
    uid: `uid-${name}`,
    creationTimestamp: '2026-01-01T00:00:00Z',
    finalizers: [revokeFinalizer],
  };
  const named = { ...tonApiKey, metadata };
  const first = decideKey(input({ tonApiKey: named, randomBytes: random(name.length) }));
  return { tonApiKey: { ...named, status: first.status } as TonApiKey, secret: first.secret };
}

function deleted({ tonApiKey }: World): TonApiKey {
  return { ...tonApiKey, metadata: { ...tonApiKey.metadata, deletionTimestamp: '2026-11-21T12:00:00Z' } };
}

function midRotation() {
  const world = settled();
  const tonApiKey = withSpec(world, { rotation: { overlap: '24h', trigger: 'now' } });
  const { secret, status } = decideKey(input({ ...world, tonApiKey, nowMs: noonMs + 1000 }));
  return { world, staged: { tonApiKey: { ...tonApiKey, status } as TonApiKey, secret } };
}

function withSpec({ tonApiKey }: Partial<KeyInput>, spec: Partial<TonApiKey['spec']>): TonApiKey {
  const known = tonApiKey ?? sampleKey();
  return { ...known, spec: { ...known.spec, ...spec } };
}

function input(changes: Partial<KeyInput> = {}): KeyInput {
  return {
    tonApiKey: sampleKey(),
    tonApi,
    permitted: true,
    secret: undefined,
    inKeyring: () => true,
    acknowledged: true,
    isOthers: () => false,
    randomBytes: random(1),
    nowMs: noonMs,
    ...changes,
  };
}

let drawn = 0;

/** Bytes that differ at every call, the same in every run. */
function random(seed: number): (length: number) => Buffer {
  return (length) => createHash('sha512').update(`${seed} ${drawn++}`).digest().subarray(0, length);
}

function rows({ tonApiKey, secret }: Partial<KeyInput>, nowMs = noonMs) {
  return keyringOf(tonApi, [{ tonApiKey: tonApiKey ?? sampleKey(), secret, permitted: true }], nowMs);
}

function text(secret: KubernetesObject | undefined, name: string): string {
  return Buffer.from(secret?.data?.[name] ?? '', 'base64').toString('utf8');
}

function conditions({ status }: Pick<KeyDecision, 'status'>): Record<string, string> {
  return Object.fromEntries(
    (status?.conditions ?? []).map(({ type, status: value, reason }) => [type, `${value}/${reason}`]),
  );
}

function ready(decision: KeyDecision): string | undefined {
  return conditions(decision)['Ready'];
}
