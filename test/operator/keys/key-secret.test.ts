import { expect, it } from 'vitest';

import { keySecret, readMaterial } from '#operator/keys/key-secret.ts';
import { sampleKey } from '#test/operator/desired/samples.ts';
import { makeKey } from '#service/limits/keys.ts';

it('the material of a Secret is read whatever its previous keys are', () => {
  const { key, id } = makeKey((length) => Buffer.alloc(length, 7));
  const material = { key, keyId: id, since: '2026-11-21T12:00:00Z', plan: 'pro', previous: [] };
  const secret = keySecret(sampleKey(), material, 'https://ton.example.com');
  for (const previous of ['', 'x', '{}', '[1]', '[{"id":"short"}]']) {
    const odd = { ...secret, data: { ...secret.data, 'previous-keys': Buffer.from(previous).toString('base64') } };
    expect(readMaterial(odd)).toMatchObject({ keyId: id, previous: [] });
  }
});
