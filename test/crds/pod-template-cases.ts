import type { Change, RuleCase } from './cases.ts';

type Fields = Record<string, unknown>;

const podSpec =
  (fields: Fields): Change =>
  (spec) =>
    void Object.assign(spec, { podTemplate: { spec: fields } });
const container = (name: string, fields: Fields): Change => podSpec({ containers: [{ name, ...fields }] });

/** Fields of a PodSpec that may not be set. */
const podFields: Fields = {
  activeDeadlineSeconds: 1,
  automountServiceAccountToken: true,
  enableServiceLinks: true,
  ephemeralContainers: [{ name: 'x' }],
  hostIPC: true,
  hostNetwork: true,
  hostPID: true,
  nodeName: 'x',
  restartPolicy: 'Always',
  serviceAccount: 'x',
  serviceAccountName: 'x',
  terminationGracePeriodSeconds: 1,
};

/** Fields of a pod's security that may not be set. */
const securityFields: Fields = {
  fsGroup: 1,
  runAsGroup: 1,
  runAsNonRoot: false,
  runAsUser: 0,
  seccompProfile: { type: 'Unconfined' },
};

/** Fields that only a sidecar may have. */
const containerFields: Fields = {
  args: ['x'],
  command: ['x'],
  image: 'x',
  imagePullPolicy: 'Always',
  ports: [{ containerPort: 1 }],
  resources: { limits: { cpu: '1' } },
  restartPolicy: 'Always',
  securityContext: { privileged: true },
  stdin: true,
  tty: true,
  workingDir: '/',
};

const scope = 'spec.podTemplate.spec';
const first = `${scope}.containers[0]`;

/** A case for each field of a PodSpec that may not be set, by its name, and for each that only a sidecar may have. */
export const podTemplateCases: readonly RuleCase[] = [
  ...Object.entries(podFields).map(([field, value]) => ({
    message: `${field} may not be set`,
    field: `${scope}.${field}`,
    accepted: podSpec({ dnsPolicy: 'Default', runtimeClassName: 'gvisor' }),
    refused: podSpec({ [field]: value }),
  })),
  ...Object.entries(securityFields).map(([field, value]) => ({
    message: `${field} may not be set`,
    field: `${scope}.securityContext.${field}`,
    accepted: podSpec({ securityContext: { supplementalGroups: [7] } }),
    refused: podSpec({ securityContext: { [field]: value } }),
  })),
  ...Object.entries(containerFields).map(([field, value]) => ({
    message: `${field} of our own containers may not be set`,
    field: `${first}.${field}`,
    accepted: container('sidecar', { [field]: value }),
    refused: container('migration', { [field]: value }),
  })),
  {
    message: "a volume of this name is the operator's own",
    field: `${scope}.volumes[0].name`,
    accepted: podSpec({ volumes: [{ name: 'extra', emptyDir: {} }] }),
    refused: podSpec({ volumes: [{ name: 'postgres', emptyDir: {} }] }),
  },
  {
    message: 'preStop of container api may not be set',
    field: first,
    accepted: container('indexer', { lifecycle: { preStop: { sleep: { seconds: 1 } } } }),
    refused: container('api', { lifecycle: { preStop: { sleep: { seconds: 1 } } } }),
  },
  {
    message: 'NODE_NAME, NODE_OPTIONS, POD_IP and POD_NAME of our own containers may not be set',
    field: `${first}.env`,
    accepted: container('api', { env: [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }] }),
    refused: container('api', { env: [{ name: 'A' }, { name: 'NODE_OPTIONS', value: 'x' }] }),
  },
  {
    message: '/tmp, /etc/tonplane and /var/lib/tonplane of our own containers may not be mounted',
    field: `${first}.volumeMounts`,
    accepted: container('api', { volumeMounts: [{ name: 'extra', mountPath: '/etc/extra' }] }),
    refused: container('api', { volumeMounts: [{ name: 'extra', mountPath: '/etc/tonplane/config' }] }),
  },
];
