import { mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { ClusterClient, ClusterObject } from './cluster-client.ts';

/** ConfigMaps and Secrets of the cluster as the kubelet knows them. */
export type ConfigStore = {
  /** `kind` is ConfigMap or Secret. */
  get(kind: string, namespace: string, name: string): ClusterObject | undefined;
};

/** A volume of a pod as the pod's `spec.volumes` has it. */
type Volume = ClusterObject['spec']['volumes'][number];

/** Why a pod cannot start yet; it is tried again. */
export class NotMounted extends Error {}

type Files = Map<string, Buffer>;

/** The volumes of one pod, as folders. */
export type PodVolumes = {
  /** Folder of a volume. */
  readonly folderOf: (volume: string) => string;
  /** Writes what has changed; a projection is swapped as a whole. @throws NotMounted while something needed is not there */
  refresh(): Promise<void>;
};

/**
 * Makes and refreshes folders for volumes of the types ConfigMap, Secret, projected, downwardAPI and emptyDir. As a real kubelet does, files
 * are links into `..data`, which is a link that is swapped: a reader sees all of an old or all of a new state.
 */
export function createPodVolumes(
  pod: ClusterObject,
  folder: string,
  client: ClusterClient,
  store: ConfigStore,
): PodVolumes {
  const { namespace = '' } = pod.metadata;
  const volumes = (pod['spec'].volumes ?? []) as Volume[];
  const written = new Map<string, string>();
  const tokens = new Map<string, string>();
  let stamp = 0;

  async function filesOf(volume: Volume): Promise<Files | undefined> {
    if (volume.emptyDir) return undefined;
    if (volume.configMap) return objectFiles('ConfigMap', { ...volume.configMap });
    if (volume.secret) return objectFiles('Secret', { ...volume.secret, name: volume.secret.secretName });
    if (volume.downwardAPI) return downwardFiles(volume.downwardAPI.items);
    if (volume.projected) {
      const parts = await Promise.all((volume.projected.sources as Volume[]).map((source) => sourceFiles(source)));
      return new Map(parts.flatMap((part) => [...part]));
    }
    throw new NotMounted(`volume ${volume.name}: no such type here`);
  }

  async function sourceFiles(source: Volume): Promise<Files> {
    if (source.configMap) return objectFiles('ConfigMap', source.configMap);
    if (source.secret) return objectFiles('Secret', source.secret);
    if (source.downwardAPI) return downwardFiles(source.downwardAPI.items);
    const { path, audience, expirationSeconds } = source.serviceAccountToken;
    return new Map([[path as string, Buffer.from(await tokenFor(audience, expirationSeconds))]]);
  }

  function objectFiles(
    kind: string,
    source: { name: string; optional?: boolean; items?: { key: string; path: string }[] },
  ): Files {
    const object = store.get(kind, namespace, source.name);
    if (object === undefined) {
      if (source.optional === true) return new Map();
      throw new NotMounted(`${kind.toLowerCase()} "${source.name}" not found`);
    }
    const data = valuesOf(object);
    const items = source.items ?? [...data.keys()].map((key) => ({ key, path: key }));
    return new Map(
      items.flatMap(({ key, path }) => {
        const value = data.get(key);
        if (value !== undefined) return [[path, value] as const];
        if (source.optional === true) return [];
        throw new NotMounted(`references non-existent ${kind} key: ${key}`);
      }),
    );
  }

  function downwardFiles(items: readonly { path: string; fieldRef: { fieldPath: string } }[]): Files {
    return new Map(items.map(({ path, fieldRef }) => [path, Buffer.from(fieldOf(pod, fieldRef.fieldPath))]));
  }

  /** One token for a pod's life: no test runs for the hour that it is good. */
  async function tokenFor(audience: string | undefined, expirationSeconds = 3600): Promise<string> {
    const known = tokens.get(audience ?? '');
    if (known !== undefined) return known;
    const account = pod['spec'].serviceAccountName as string;
    const { name, uid } = pod.metadata;
    const { status } = await client.create(`/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {
        expirationSeconds,
        ...(audience !== undefined && { audiences: [audience] }),
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
      },
    });
    tokens.set(audience ?? '', status.token as string);
    return status.token as string;
  }

  const folderOf = (volume: string): string => join(folder, 'volumes', volume);
  return {
    folderOf,
    async refresh() {
      for (const volume of volumes) {
        const target = folderOf(volume.name);
        mkdirSync(target, { recursive: true });
        const files = await filesOf(volume);
        if (files === undefined) continue;
        const content = JSON.stringify([...files].map(([path, value]) => [path, value.toString('base64')]));
        if (written.get(volume.name) === content) continue;
        project(target, files, `..${++stamp}`);
        written.set(volume.name, content);
      }
    },
  };
}

/** Keys and values of a ConfigMap or a Secret. */
function valuesOf(object: ClusterObject): Map<string, Buffer> {
  const plain = object.kind === 'ConfigMap';
  return new Map([
    ...Object.entries<string>(object['data'] ?? {}).map(
      ([key, value]) => [key, Buffer.from(value, plain ? 'utf8' : 'base64')] as const,
    ),
    ...Object.entries<string>(object['binaryData'] ?? {}).map(
      ([key, value]) => [key, Buffer.from(value, 'base64')] as const,
    ),
  ]);
}

function project(target: string, files: Files, version: string): void {
  for (const [path, value] of files) {
    const file = join(target, version, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, value, { mode: 0o600 });
  }
  mkdirSync(join(target, version), { recursive: true });
  symlinkSync(version, join(target, '..data_tmp'));
  const previous = linkAt(join(target, '..data'));
  renameSync(join(target, '..data_tmp'), join(target, '..data'));
  const names = new Set([...files.keys()].map((path) => path.split('/')[0] ?? ''));
  for (const name of names)
    if (linkAt(join(target, name)) === undefined) symlinkSync(`..data/${name}`, join(target, name));
  for (const name of readdirSync(target)) if (!name.startsWith('..') && !names.has(name)) rmSync(join(target, name));
  if (previous !== undefined) rmSync(join(target, previous), { recursive: true, force: true });
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** A field of a pod as `fieldRef` names it; what has no value is empty. */
export function fieldOf(pod: ClusterObject, path: string): string {
  const [, kind, name = ''] = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path) ?? [];
  if (kind === 'labels' || kind === 'annotations') return pod.metadata[kind]?.[name] ?? '';
  const value = path
    .split('.')
    .reduce<unknown>((object, key) => (object as Record<string, unknown> | undefined)?.[key], pod);
  return typeof value === 'string' ? value : '';
}

/** Value of an entry of a container's `env`. @throws NotMounted while what it refers to is not there */
export function environmentValue(
  entry: { readonly name: string; readonly value?: string; readonly valueFrom?: ClusterObject['spec'] },
  pod: ClusterObject,
  store: ConfigStore,
): string | undefined {
  if (entry.valueFrom === undefined) return entry.value ?? '';
  const { fieldRef, configMapKeyRef, secretKeyRef, resourceFieldRef } = entry.valueFrom;
  if (fieldRef) return fieldOf(pod, fieldRef.fieldPath);
  if (resourceFieldRef) return '0';
  const [kind, reference] = configMapKeyRef ? ['ConfigMap', configMapKeyRef] : ['Secret', secretKeyRef];
  const object = store.get(kind, pod.metadata.namespace ?? '', reference.name);
  const value = object && valuesOf(object).get(reference.key);
  if (value === undefined && reference.optional !== true) {
    throw new NotMounted(`${kind.toLowerCase()} "${reference.name}" has no key ${reference.key}`);
  }
  return value?.toString('utf8');
}
