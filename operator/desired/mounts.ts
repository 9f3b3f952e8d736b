import type { TonApi } from '../resource.ts';
import { postgresPartNames, type OwnVolume, type PostgresParts } from '../service-config.ts';
import { configFile } from './config-map.ts';
import { childNames } from './names.ts';

/** Volumes of a pod, where they are mounted, and the arguments that name the files to the service. */
export type Mounts = {
  readonly volumes: readonly (Readonly<Record<string, unknown>> & { readonly name: OwnVolume })[];
  readonly volumeMounts: readonly {
    readonly name: OwnVolume;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
  readonly args: readonly string[];
};

const root = '/etc/tonplane';

/** File with certificates of authorities in the folder of each bundle. */
const caFile = 'ca.crt';

/** Folder of the service's verified key blocks. It ends with the pod. */
const dataPath = '/var/lib/tonplane';

/** Key blocks of years are below a megabyte; temporary files are none but the runtime's own. */
const scratchSizeLimit = '64Mi';

/**
 * Numbers of keyring shards that a pod mounts, existing or not. A new template is needed only above the mounted number, so the steps are wide.
 */
const shardCapacities = [16, 64, 256] as const;

/** A folder of files from one volume. Always a whole volume: files mounted by `subPath` are never refreshed. */
function folder(name: OwnVolume, source: Readonly<Record<string, unknown>>, args: readonly string[]): Mounts {
  return {
    volumes: [{ name, ...source }],
    volumeMounts: [{ name, mountPath: `${root}/${name}`, readOnly: true }],
    args,
  };
}

/** The configuration: `--manifest`, and the Secret with lite servers where there is one. */
export function configMounts(tonApi: TonApi): Mounts {
  const reference = tonApi.spec.liteServerConfigRef;
  return joined([
    folder('config', { configMap: { name: childNames(tonApi).config } }, [
      '--manifest',
      `${root}/config/${configFile}`,
    ]),
    reference?.kind === 'Secret'
      ? secretFile('lite-servers', reference, '--global-config', 'global.config.json')
      : nothing,
  ]);
}

/** Capacity for this number of shards. */
export function shardCapacity(shards: number): number {
  return shardCapacities.find((capacity) => shards <= capacity) ?? shardCapacities.at(-1) ?? shards;
}

/** The keyring as one folder with a file a shard. A shard that is not there (yet) is no error. */
export function keyringMounts(tonApi: TonApi, shards: number): Mounts {
  const sources = Array.from({ length: shardCapacity(shards) }, (_, shard) => ({
    secret: {
      name: childNames(tonApi).keyring(shard),
      items: [{ key: keyringFile, path: `${shard}.json.gz` }],
      optional: true,
    },
  }));
  return folder('keyring', { projected: { sources } }, ['--keyring', `${root}/keyring`]);
}

/** Key of a keyring Secret. */
export const keyringFile = 'keyring.json.gz';

/** The shared Redis: a Secret's URL, or the operator's own Redis, whose address is no secret. */
export function redisMounts(tonApi: TonApi): Mounts {
  const { secretRef, caBundle, clientCertificate } = tonApi.spec.rateLimits.redis;
  if (secretRef !== undefined) {
    return joined([
      secretFile('redis', secretRef, '--redis-file', 'url'),
      caMounts('redis-ca', caBundle, '--redis-ca-file'),
      clientCertificateMounts('redis', clientCertificate),
    ]);
  }
  const { namespace } = tonApi.metadata;
  return { ...nothing, args: ['--redis', `redis://${childNames(tonApi).redis}.${namespace}.svc:${REDIS_PORT}`] };
}

export const REDIS_PORT = 6379;

/** Name of the volume with the URI of the database. */
const databaseVolume = 'postgres';

/** True for the template of pods that need the database, and so its schema. */
export function mountsDatabase(template: object): boolean {
  const { spec } = template as { readonly spec?: { readonly volumes?: readonly { readonly name?: string }[] } };
  return spec?.volumes?.some(({ name }) => name === databaseVolume) === true;
}

/** The database, and the replica that queries go to where there is one. */
export function postgresMounts(tonApi: TonApi, readOnly: boolean): Mounts {
  const { postgres } = tonApi.spec;
  if (postgres === undefined) return nothing;
  const { secretRef, parts, readOnlySecretRef, caBundle, clientCertificate } = postgres;
  return joined([
    parts === undefined ? nothing : partFiles(parts, readOnly),
    secretRef === undefined ? nothing : secretFile(databaseVolume, secretRef, '--postgres-file', 'uri'),
    readOnly && readOnlySecretRef !== undefined
      ? secretFile('postgres-replica', readOnlySecretRef, '--postgres-replica-file', 'uri')
      : nothing,
    caMounts('postgres-ca', caBundle, '--postgres-ca-file'),
    clientCertificateMounts('postgres', clientCertificate),
  ]);
}

/** A folder with a file for each part of the connection that comes from a Secret. */
function partFiles(parts: PostgresParts, readOnly: boolean): Mounts {
  const sources = postgresPartNames.flatMap((part) => {
    const reference = part === 'readOnlyHost' && !readOnly ? undefined : parts[part]?.secretRef;
    if (reference === undefined) return [];
    return [{ secret: { name: reference.name, items: [{ key: reference.key, path: part }] } }];
  });
  return folder(databaseVolume, { projected: { sources } }, ['--postgres-folder', `${root}/${databaseVolume}`]);
}

/** The authorities of the collector of traces. */
export function tracingMounts({ spec }: TonApi): Mounts {
  return caMounts('tracing-ca', spec.observability?.tracing?.caBundle, '--tracing-ca-file');
}

/** The authorities of the IPFS gateway. */
export function gatewayMounts({ spec }: TonApi): Mounts {
  return caMounts('metadata-ca', spec.tokenMetadata?.caBundle, '--metadata-ca-file');
}

/** Writable folders of a container with a read-only root. */
export function scratchMounts(): Mounts {
  return {
    volumes: (['data', 'tmp'] as const).map((name) => ({ name, emptyDir: { sizeLimit: scratchSizeLimit } })),
    volumeMounts: [
      { name: 'data', mountPath: dataPath },
      { name: 'tmp', mountPath: '/tmp' },
    ],
    args: ['--data', dataPath],
  };
}

export function joined(all: readonly Mounts[]): Mounts {
  return {
    volumes: all.flatMap(({ volumes }) => volumes),
    volumeMounts: all.flatMap(({ volumeMounts }) => volumeMounts),
    args: all.flatMap(({ args }) => args),
  };
}

const nothing: Mounts = { volumes: [], volumeMounts: [], args: [] };

type Postgres = NonNullable<TonApi['spec']['postgres']>;
type CaBundle = NonNullable<Postgres['caBundle']>;
type ClientCertificate = NonNullable<Postgres['clientCertificate']>;

/** The client certificate and its private key, each as a file. Both are of one volume, so a rotation changes both at once. */
function clientCertificateMounts(server: 'redis' | 'postgres', given: ClientCertificate | undefined): Mounts {
  if (given === undefined) return nothing;
  const { name: secretName, certificate, privateKey } = given.secretRef;
  const name = `${server}-client-tls` as const;
  const items = [
    { key: certificate, path: 'tls.crt' },
    { key: privateKey, path: 'tls.key' },
  ];
  return folder(name, { secret: { secretName, items } }, [
    `--${server}-client-certificate-file`,
    `${root}/${name}/tls.crt`,
    `--${server}-client-key-file`,
    `${root}/${name}/tls.key`,
  ]);
}

/** Certificates of authorities as a file, from a Secret or a ConfigMap. */
function caMounts(name: OwnVolume, bundle: CaBundle | undefined, option: string): Mounts {
  if (bundle?.secretRef !== undefined) return secretFile(name, bundle.secretRef, option, caFile);
  if (bundle?.configMapRef === undefined) return nothing;
  const { name: configMap, key } = bundle.configMapRef;
  const source = { configMap: { name: configMap, items: [{ key, path: caFile }] } };
  return folder(name, source, [option, `${root}/${name}/${caFile}`]);
}

/** Mounts one key of a Secret as a file. The operator sees the Secret's name and key, never its value. */
function secretFile(
  name: OwnVolume,
  reference: { readonly name: string; readonly key: string },
  option: string,
  file: string,
): Mounts {
  const secret = { secretName: reference.name, items: [{ key: reference.key, path: file }] };
  return folder(name, { secret }, [option, `${root}/${name}/${file}`]);
}
