import { describe, expect, it } from 'vitest';

import { postgresMounts, redisMounts, type Mounts } from '#operator/desired/mounts.ts';
import type { TonApi } from '#operator/resource.ts';
import { sample } from './samples.ts';

type CaBundle = NonNullable<NonNullable<TonApi['spec']['postgres']>['caBundle']>;
type Part = {
  readonly name: string;
  readonly option: string;
  readonly mounts: (caBundle: CaBundle | undefined) => Mounts;
};

const secretRef = { name: 'database', key: 'uri' };
const parts: readonly Part[] = [
  {
    name: 'redis-ca',
    option: '--redis-ca-file',
    mounts: (caBundle) => {
      const redis = { secretRef, embedded: false, ...(caBundle && { caBundle }) };
      return redisMounts(sample('typical', { rateLimits: { redis, onRedisFailure: 'Local' } }));
    },
  },
  {
    name: 'postgres-ca',
    option: '--postgres-ca-file',
    mounts: (caBundle) =>
      postgresMounts(
        sample('typical', {
          postgres: { secretRef, schema: 'ton', poolSize: 10, replicaMaxLag: '30s', ...(caBundle && { caBundle }) },
        }),
        true,
      ),
  },
];

describe.each(parts)('the bundle $name', ({ name, option, mounts }) => {
  const [fromSecret, fromMap] = [
    { name: 'given', key: 'tls-ca.pem' },
    { name: 'given', key: 'ca.crt' },
  ];

  it.each([
    [
      'Secret',
      { secretRef: fromSecret },
      { secret: { secretName: 'given', items: [{ key: 'tls-ca.pem', path: 'ca.crt' }] } },
    ],
    [
      'ConfigMap',
      { configMapRef: fromMap },
      { configMap: { name: 'given', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    ],
  ])('of a %s is a file in the pods that the service is given', (_kind, bundle, source) => {
    const { volumes, volumeMounts, args } = mounts(bundle);
    expect(volumes).toContainEqual({ name, ...source });
    expect(volumeMounts).toContainEqual({ name, mountPath: `/etc/tonplane/${name}`, readOnly: true });
    expect(args.join(' ')).toContain(`${option} /etc/tonplane/${name}/ca.crt`);
  });

  it('that is not named adds nothing', () => {
    const { volumes, args } = mounts(undefined);
    expect(volumes.map((volume) => volume['name'])).not.toContain(name);
    expect(args).not.toContain(option);
  });
});
