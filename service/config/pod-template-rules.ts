import { rule, type Rule } from './rule.ts';

type Fields = Readonly<Record<string, unknown>>;
type Container = Fields & {
  readonly name: string;
  readonly env?: readonly { readonly name: string }[];
  readonly volumeMounts?: readonly { readonly mountPath: string }[];
  readonly lifecycle?: { readonly preStop?: unknown };
};

/** Fields of a PodSpec that the operator decides, or that open the node to the pod. */
const podFields = [
  'activeDeadlineSeconds',
  'automountServiceAccountToken',
  'enableServiceLinks',
  'ephemeralContainers',
  'hostIPC',
  'hostNetwork',
  'hostPID',
  'nodeName',
  'restartPolicy',
  'serviceAccount',
  'serviceAccountName',
  'terminationGracePeriodSeconds',
] as const;

/** Fields of a pod's security that the restricted level needs. */
const securityFields = ['fsGroup', 'runAsGroup', 'runAsNonRoot', 'runAsUser', 'seccompProfile'] as const;

/** Fields of our own containers that the operator decides. */
const containerFields = [
  'args',
  'command',
  'image',
  'imagePullPolicy',
  'ports',
  'resources',
  'restartPolicy',
  'securityContext',
  'stdin',
  'tty',
  'workingDir',
] as const;

/** Containers of the operator that take additions of the author. The embedded Redis is no part of the service and takes none. */
export const ownContainers = ['api', 'indexer', 'metadata', 'migration'] as const;
const ownVariables: readonly string[] = ['NODE_NAME', 'NODE_OPTIONS', 'POD_IP', 'POD_NAME'];
/** Names of volumes that the operator makes. */
const ownVolumes = [
  'config',
  'data',
  'keyring',
  'lite-servers',
  'metadata-ca',
  'postgres',
  'postgres-ca',
  'postgres-client-tls',
  'postgres-replica',
  'redis',
  'redis-ca',
  'redis-client-tls',
  'tmp',
  'tracing-ca',
] as const;
export type OwnVolume = (typeof ownVolumes)[number];

const pod = 'spec.podTemplate.spec';
const containers = `${pod}.containers[]`;
const isOwn = `(self.name in ${listed(ownContainers)})`;

/** Rules about fields of `podTemplate.spec` that may not be set. Each refuses one field by its name. */
export const podTemplateRules: readonly Rule[] = [
  ...podFields.map((field) => absent(pod, field)),
  ...securityFields.map((field) => absent(`${pod}.securityContext`, field)),
  rule(`${pod}.volumes[]`, `!(self.name in ${listed(ownVolumes)})`, ['name'], ({ name }: Container) => [
    ownVolumes.some((own) => own === name),
    'name',
    `expected none of ${ownVolumes.join(', ')}, which are the operator's own, got ${name}`,
  ]),
  ...containerFields.map((field) =>
    rule(containers, `!${isOwn} || !has(self.${field})`, ['name'], (container: Container) => [
      isOwnContainer(container) && container[field] !== undefined,
      field,
      `expected no ${field}, because ${container.name} is a container of the operator`,
    ]),
  ),
  rule(
    containers,
    "self.name != 'api' || !has(self.lifecycle) || !has(self.lifecycle.preStop)",
    ['name', 'lifecycle'],
    ({ name, lifecycle }: Container) => [
      name === 'api' && lifecycle?.preStop !== undefined,
      'lifecycle.preStop',
      'expected no preStop, because the operator sets that of api',
    ],
  ),
  rule(
    containers,
    `!${isOwn} || !has(self.env) || self.env.all(e, !(e.name in ${listed(ownVariables)}))`,
    ['name', 'env'],
    ({ name, env = [] }: Container) => [
      isOwnContainer({ name }) && env.some((variable) => ownVariables.includes(variable.name)),
      'env',
      `expected none of ${ownVariables.join(', ')}, which are the operator's own`,
    ],
  ),
  rule(
    containers,
    `!${isOwn} || !has(self.volumeMounts) || self.volumeMounts.all(m, m.mountPath != '/tmp' && !m.mountPath.startsWith('/etc/tonplane') && !m.mountPath.startsWith('/var/lib/tonplane'))`,
    ['name', 'volumeMounts'],
    ({ name, volumeMounts = [] }: Container) => [
      isOwnContainer({ name }) && volumeMounts.some(({ mountPath }) => isOwnPath(mountPath)),
      'volumeMounts',
      'expected no path of /tmp, /etc/tonplane and /var/lib/tonplane',
    ],
  ),
];

function absent(scope: string, field: string): Rule {
  return rule(scope, `!has(self.${field})`, [], (self: Fields) => [
    self[field] !== undefined,
    field,
    `expected no ${field}, because the operator decides it`,
  ]);
}

function isOwnContainer({ name }: { readonly name: string }): boolean {
  return ownContainers.some((own) => own === name);
}

function isOwnPath(path: string): boolean {
  return path === '/tmp' || path.startsWith('/etc/tonplane') || path.startsWith('/var/lib/tonplane');
}

/** Texts as a list in CEL. */
function listed(texts: readonly string[]): string {
  return `[${texts.map((text) => `'${text}'`).join(', ')}]`;
}
