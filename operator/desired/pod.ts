import type { TonApi } from '../resource.ts';
import type { Mounts } from './mounts.ts';
import { childNames } from './names.ts';
import type { Release } from './references.ts';
import type { ContainerResources } from './resources.ts';

/** Any id that is not root's; the image runs as the same. */
const USER_ID = 65_532;

type PodParts = {
  readonly container: string;
  readonly mounts: Mounts;
  /** Arguments after the image's entrypoint. */
  readonly args: readonly string[];
  readonly resources: ContainerResources;
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  /** Options of Node in place of the image's own, which are those of an API without an index. */
  readonly nodeOptions?: string | undefined;
  /** Probes and lifecycle of the container. */
  readonly extra?: Readonly<Record<string, unknown>>;
};

/** A pod's `spec` that passes the `restricted` Pod Security level, for every role of the service. */
export function podSpec(tonApi: TonApi, release: Release, parts: PodParts): Record<string, unknown> {
  const { image, podTemplate } = tonApi.spec;
  const container = {
    name: parts.container,
    image: imageOf(tonApi, release),
    imagePullPolicy: image?.pullPolicy ?? 'IfNotPresent',
    args: [...parts.args, ...parts.mounts.args],
    env: [
      fieldEnv('POD_NAME', 'metadata.name'),
      fieldEnv('POD_IP', 'status.podIP'),
      fieldEnv('NODE_NAME', 'spec.nodeName'),
      ...(parts.nodeOptions === undefined ? [] : [{ name: 'NODE_OPTIONS', value: parts.nodeOptions }]),
    ],
    ...(parts.ports && { ports: parts.ports.map((port) => ({ ...port, protocol: 'TCP' })) }),
    resources: parts.resources,
    volumeMounts: parts.mounts.volumeMounts,
    securityContext: containerSecurity,
    ...parts.extra,
  };
  return {
    serviceAccountName: podTemplate?.serviceAccountName ?? childNames(tonApi).serviceAccount,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: podSecurity(release),
    containers: [container],
    volumes: parts.mounts.volumes,
    ...podPlacement(tonApi, release),
  };
}

/** Fields of a pod's `spec` for placement and for pulling the image, from the manifest and the operator's options. */
export function podPlacement({ spec }: TonApi, release: Release): Record<string, unknown> {
  const { nodeSelector, tolerations, affinity, priorityClassName } = spec.podTemplate ?? {};
  const pullSecrets = [...new Set([...(spec.image?.pullSecrets ?? []), ...(release.pullSecrets ?? [])])];
  return {
    ...(pullSecrets.length > 0 && { imagePullSecrets: pullSecrets.map((name) => ({ name })) }),
    ...(nodeSelector && { nodeSelector }),
    ...(tolerations && { tolerations }),
    ...(affinity && { affinity }),
    ...(priorityClassName !== undefined && { priorityClassName }),
  };
}

/**
 * For processes that work with the index. Maximum of half of a thread's young generation, in MiB.
 * Rows live while a batch is written, and parts of a v3 page live while the page is made. With the image's 4 MiB, V8 copies them repeatedly.
 * With 16 MiB a pod takes some 18 MiB more, and 1 % less CPU.
 */
export const indexNodeOptions = '--max-semi-space-size=8';

/** Security context of a pod at the `restricted` level. A platform that assigns ids refuses ids of ours. */
export function podSecurity({ platformIds }: Pick<Release, 'platformIds'>): Record<string, unknown> {
  return {
    runAsNonRoot: true,
    ...(platformIds !== true && { runAsUser: USER_ID, runAsGroup: USER_ID, fsGroup: USER_ID }),
    seccompProfile: { type: 'RuntimeDefault' },
  };
}

export const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
} as const;

/** The service's image: the manifest's, else the release's. A digest wins over a tag. */
export function imageOf({ spec }: TonApi, release: Release): string {
  const { repository, tag, digest } = spec.image ?? {};
  const [releasedName, releasedVersion] = splitImage(release.image);
  const name = repository ?? releasedName;
  if (digest !== undefined) return `${name}@${digest}`;
  return tag === undefined ? `${name}${releasedVersion}` : `${name}:${tag}`;
}

/** Version of the service in the pods, if the image names it. */
export function versionOf({ spec }: TonApi, release: Release): string {
  const { tag, digest } = spec.image ?? {};
  return tag ?? digest?.slice('sha256:'.length, 'sha256:'.length + 12) ?? release.version;
}

/** `host:5000/name:1` -> `host:5000/name` and `:1`; a digest stays with its `@`. */
function splitImage(image: string): [name: string, version: string] {
  const at = image.indexOf('@');
  if (at >= 0) return [image.slice(0, at), image.slice(at)];
  const colon = image.lastIndexOf(':');
  return colon > image.lastIndexOf('/') ? [image.slice(0, colon), image.slice(colon)] : [image, ''];
}

function fieldEnv(name: string, fieldPath: string): Record<string, unknown> {
  return { name, valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } };
}
