import { createHash } from 'node:crypto';

import { parseCommandLine } from '../service/config/command-line.ts';
import { severities, type Severities } from './desired/alert-rules.ts';
import type { GivenMetadata } from './desired/given-metadata.ts';
import { OptionsError, usageError } from './errors.ts';
import { optionalGroups } from './kubernetes/resources.ts';
import { durationMs, validateManifest } from './service-config.ts';

const commands = ['run', 'plan', 'uninstall'] as const;
type Command = (typeof commands)[number];

/** Options of the command line and the environment. */
export type OperatorOptions = {
  /**
   * `run`: the operator. `plan`: prints the changes for one file or for all resources, and ends.
   * `uninstall`: stops the operator, removes its finalizers, and ends.
   */
  readonly command: Command;
  /** Deployment of the operator, which `uninstall` stops. */
  readonly deployment: string | undefined;
  /** Manifest of the plan; undefined plans everything in the cluster. */
  readonly file: string | undefined;
  /** Undefined: that of the environment or of the pod. */
  readonly kubeconfig: string | undefined;
  /** Undefined: all namespaces. */
  readonly namespaces: readonly string[] | undefined;
  /** Namespace of the Lease. Undefined: the namespace of the pod or of the kubeconfig. */
  readonly namespace: string | undefined;
  /** Name of the Lease: operators of the same namespaces share a Lease, operators of other namespaces have another. */
  readonly leaseName: string;
  /** Unique to this process: the pod's name. */
  readonly identity: string;
  readonly concurrency: number;
  readonly rollouts: RolloutOptions;
  /** Patches an annotation on pods so that their kubelet refreshes files at once; needs the right to patch pods. */
  readonly nudgePods: boolean;
  readonly image: string | undefined;
  readonly redisImage: string;
  /** Secrets with registry credentials for the pods of every TonApi. */
  readonly pullSecrets: readonly string[];
  /** The platform assigns the ids of users and groups: pods name none. */
  readonly platformIds: boolean;
  /** Labels and annotations for the children of every TonApi. */
  readonly childMetadata: GivenMetadata | undefined;
  readonly prometheusUrl: string | undefined;
  readonly monitoringNamespace: string | undefined;
  /** Groups of optional APIs that are left alone though the cluster has them: their rights were not given. */
  readonly ignoredApis: readonly string[];
  readonly runbookUrl: string | undefined;
  /** Values of the label `severity` of alerts, by our own words. */
  readonly alertSeverities: Severities;
  readonly blackboxExporter: { readonly address: string; readonly module: string } | undefined;
  readonly host: string;
  /** 0 takes a free one. */
  readonly metricsPort: number;
  /** Folder of a certificate and its key: `/metrics` is HTTPS. Undefined: HTTP. */
  readonly metricsTlsFolder: string | undefined;
  /** `/metrics` is shown to those alone whom the API server gives it. */
  readonly metricsAuthorize: boolean;
  readonly healthPort: number;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  /** `caFile`: certificates in PEM that the collector's must come from; undefined: the public authorities. */
  readonly tracing: {
    readonly endpoint: string;
    readonly sampleRatio: number;
    readonly caFile: string | undefined;
  } | null;
};

/** Rollout of template changes that only a new operator makes (operator/README.md#rollouts). */
type RolloutOptions = {
  /** TonApis that may roll out at once. */
  readonly concurrencyMax: number;
  /** Pause between the end of one and the start of the next. */
  readonly delayMs: number;
  /** `Rolling`: TonApi after TonApi; `OnChange`: a TonApi keeps its template until somebody edits it. */
  readonly upgradePolicy: 'Rolling' | 'OnChange';
};

const flags = {
  file: { type: 'string', short: 'f' },
  kubeconfig: { type: 'string' },
  namespaces: { type: 'string' },
  namespace: { type: 'string' },
  'lease-name': { type: 'string' },
  deployment: { type: 'string' },
  concurrency: { type: 'string' },
  'max-concurrent-rollouts': { type: 'string' },
  'rollout-delay': { type: 'string' },
  'upgrade-policy': { type: 'string' },
  'no-pod-nudge': { type: 'boolean' },
  image: { type: 'string' },
  'redis-image': { type: 'string' },
  'image-pull-secrets': { type: 'string' },
  'platform-ids': { type: 'boolean' },
  'child-metadata': { type: 'string' },
  'prometheus-url': { type: 'string' },
  'monitoring-namespace': { type: 'string' },
  'ignore-apis': { type: 'string' },
  'runbook-url': { type: 'string' },
  'alert-severities': { type: 'string' },
  'blackbox-exporter': { type: 'string' },
  'blackbox-module': { type: 'string' },
  host: { type: 'string' },
  'metrics-port': { type: 'string' },
  'metrics-tls-dir': { type: 'string' },
  'metrics-authorize': { type: 'boolean' },
  'health-port': { type: 'string' },
  'log-level': { type: 'string' },
  'plan-only': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const usage = `usage: ton-operator [options]            runs the operator
       ton-operator plan [-f FILE]       prints what would change, and changes nothing
                                         (--plan-only is the same as plan)
       ton-operator uninstall --deployment NAME
                                         stops that Deployment and removes the finalizers of all keys

  --kubeconfig FILE              default: KUBECONFIG, ~/.kube/config, or the pod's own
  --namespaces A,B               namespaces to reconcile; default: all
  --namespace NAME               namespace of the Lease; default: the pod's
  --lease-name NAME              name of the Lease; default: ton-operator, with a hash of --namespaces if they are given
  --concurrency N                TonApis reconciled at once, default 4
  --max-concurrent-rollouts N    TonApis that roll out a template of a new operator at once, default 1
  --rollout-delay DURATION       pause between two such rollouts, default 0s
  --upgrade-policy POLICY        Rolling (default), or OnChange: a TonApi gets the new template with its next edit
  --no-pod-nudge                 pods are not patched; changes of hot configuration wait for the kubelet
  --image IMAGE                  image of the service, for TonApis that name none
  --redis-image IMAGE            image of the embedded Redis
  --image-pull-secrets A,B       Secrets with registry credentials, in the namespace of each TonApi
  --platform-ids                 pods name no user and group: the platform assigns them, as OpenShift does
  --child-metadata JSON          labels and annotations for the children of every TonApi, in the form of spec.metadata
  --prometheus-url URL           Prometheus that KEDA asks for request rates
  --monitoring-namespace NAME    namespace that may scrape the pods; default: any
  --ignore-apis GROUP,GROUP      optional APIs that the operator does not use, such as keda.sh
  --runbook-url URL              base URL of the pages that alerts link to
  --alert-severities A=B,C=D     other words for critical, warning and info in the label severity of alerts
  --blackbox-exporter HOST:PORT  exporter that calls the hosts of every exposure from outside; default: none
  --blackbox-module NAME         module of the exporter, default http_2xx
  --host ADDRESS                 address to listen on, default 0.0.0.0
  --metrics-port N               port of /metrics, default 8080; 0: a free port
  --metrics-tls-dir DIR          folder with tls.crt and tls.key: /metrics is HTTPS; renewed files are read while it runs
  --metrics-authorize            /metrics answers only callers with the right to get it (TokenReview,
                                 SubjectAccessReview); needs --metrics-tls-dir
  --health-port N                port of /livez and /readyz, default 8081; 0: a free port
  --log-level LEVEL              debug, info, warn or error; default info

Traces go to OTEL_EXPORTER_OTLP_ENDPOINT, if it is set.
OTEL_EXPORTER_OTLP_CERTIFICATE is a file with the authorities that sign its certificate.
`;

const defaultRedisImage = 'redis:8.2-alpine';

/** Reconciles without writes are sampled by the tracer's own tail rule; this is of what is recorded at all. */
const SAMPLE_RATIO = 1;

/** Reads the command line (without the program's name) and the environment. @throws OptionsError */
export function parseOptions(args: readonly string[], environment: NodeJS.ProcessEnv): OperatorOptions {
  const { values, positionals } = parseStrictly(args);
  if (values.help === true) throw new OptionsError({ code: 'help', message: usage, data: {}, retryable: false });
  const command = values['plan-only'] === true ? 'plan' : commandOf(positionals);
  if (values.file !== undefined && command !== 'plan') throw usageError('--file: expected only with the command plan');
  if (values.deployment !== undefined && command !== 'uninstall')
    throw usageError('--deployment: expected only with the command uninstall');
  // Tokens would travel in the clear.
  if (values['metrics-authorize'] === true && values['metrics-tls-dir'] === undefined) {
    throw usageError('--metrics-authorize: expected only with --metrics-tls-dir');
  }
  const endpoint = environment['OTEL_EXPORTER_OTLP_ENDPOINT'];
  const caFile = environment['OTEL_EXPORTER_OTLP_CERTIFICATE'] || undefined;
  const named = namesOf('--namespaces', values.namespaces, namespaceName);
  const namespaces = named.length === 0 ? undefined : named;
  return {
    command,
    deployment: values.deployment,
    file: values.file,
    kubeconfig: values.kubeconfig,
    namespaces,
    namespace: values.namespace ?? environment['POD_NAMESPACE'],
    leaseName: values['lease-name'] ?? leaseNameOf(namespaces),
    identity: environment['POD_NAME'] ?? `${environment['HOSTNAME'] ?? 'operator'}-${process.pid}`,
    concurrency: integer('--concurrency', values.concurrency, 1, 64) ?? 4,
    rollouts: {
      concurrencyMax: integer('--max-concurrent-rollouts', values['max-concurrent-rollouts'], 1, 1000) ?? 1,
      delayMs: duration('--rollout-delay', values['rollout-delay']) ?? 0,
      upgradePolicy: oneOf('--upgrade-policy', values['upgrade-policy'], ['Rolling', 'OnChange'] as const) ?? 'Rolling',
    },
    nudgePods: values['no-pod-nudge'] !== true,
    image: values.image,
    redisImage: values['redis-image'] ?? defaultRedisImage,
    pullSecrets: namesOf('--image-pull-secrets', values['image-pull-secrets'], secretName),
    platformIds: values['platform-ids'] === true,
    childMetadata: childMetadataOf(values['child-metadata']),
    prometheusUrl: values['prometheus-url'],
    monitoringNamespace: values['monitoring-namespace'],
    ignoredApis: groupsOf(values['ignore-apis']),
    runbookUrl: values['runbook-url'] === '' ? undefined : values['runbook-url'],
    alertSeverities: severitiesOf(values['alert-severities']),
    blackboxExporter: blackboxOf(values['blackbox-exporter'], values['blackbox-module']),
    host: values.host ?? '0.0.0.0',
    metricsPort: integer('--metrics-port', values['metrics-port'], 0, 65_535) ?? 8080,
    metricsTlsFolder: values['metrics-tls-dir'],
    metricsAuthorize: values['metrics-authorize'] === true,
    healthPort: integer('--health-port', values['health-port'], 0, 65_535) ?? 8081,
    logLevel: oneOf('--log-level', values['log-level'], ['debug', 'info', 'warn', 'error'] as const) ?? 'info',
    tracing: endpoint === undefined || endpoint === '' ? null : { endpoint, sampleRatio: SAMPLE_RATIO, caFile },
  };
}

function parseStrictly(args: readonly string[]) {
  return parseCommandLine({ args: [...args], options: flags, allowPositionals: true, strict: true }, usageError);
}

function commandOf(positionals: readonly string[]): Command {
  const [name = 'run', ...rest] = positionals;
  const command = commands.find((each) => each === name);
  if (command === undefined || rest.length > 0) {
    throw usageError(`expected no command, plan or uninstall, got ${positionals.join(' ')}`);
  }
  return command;
}

/** The chart makes the same name. */
function leaseNameOf(namespaces: readonly string[] | undefined): string {
  if (namespaces === undefined) return 'ton-operator';
  const digest = createHash('sha256').update(namespaces.toSorted().join(',')).digest('hex');
  return `ton-operator-${digest.slice(0, 10)}`;
}

/** Names separated by commas, each once. */
function namesOf(flag: string, text: string | undefined, pattern: RegExp): readonly string[] {
  if (text === undefined || text === '') return [];
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  const wrong = names.find((name) => !pattern.test(name));
  if (wrong !== undefined) throw usageError(`${flag}: expected names separated by commas, got ${wrong}`);
  return names;
}

const namespaceName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const secretName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** `critical=page,info=none`. */
function severitiesOf(text: string | undefined): Severities {
  if (text === undefined || text === '') return {};
  const pairs = text.split(',').map((pair) => pair.split('=').map((part) => part.trim()));
  const wrong = pairs.find(
    ([name, value, ...rest]) => !severities.some((each) => each === name) || !value || rest.length > 0,
  );
  if (wrong !== undefined) {
    throw usageError(`--alert-severities: expected ${severities.join(', ')} with a value, got ${wrong.join('=')}`);
  }
  return Object.fromEntries(pairs) as Severities;
}

function blackboxOf(address: string | undefined, module = 'http_2xx'): OperatorOptions['blackboxExporter'] {
  if (address === undefined || address === '') return undefined;
  if (!/^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\]):\d{1,5}$/.test(address)) {
    throw usageError(`--blackbox-exporter: expected host:port, got ${address}`);
  }
  return { address, module };
}

/** Labels and annotations in the form of `spec.metadata`, which the schema of the custom resource checks. */
function childMetadataOf(text: string | undefined): GivenMetadata | undefined {
  if (text === undefined || text === '') return undefined;
  const given = jsonOf(text);
  const { misshapen, repeated } = validateManifest({ spec: { metadata: given } });
  const [problem] = [...misshapen, ...repeated].filter(({ path }) => path.startsWith('spec.metadata'));
  if (problem !== undefined) {
    throw usageError(`--child-metadata: ${problem.path.replace(/^spec\.metadata\.?/, '')}: ${problem.expected}`);
  }
  return given as GivenMetadata;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw usageError('--child-metadata: expected JSON');
  }
}

/** Groups of optional APIs, each once. */
function groupsOf(text: string | undefined): readonly string[] {
  if (text === undefined || text === '') return [];
  const groups = [...new Set(text.split(',').map((group) => group.trim()))];
  const wrong = groups.find((group) => !optionalGroups.includes(group));
  if (wrong !== undefined) throw usageError(`--ignore-apis: expected ${optionalGroups.join(', ')}, got ${wrong}`);
  return groups;
}

function integer(flag: string, text: string | undefined, min: number, max: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d{1,6}$/.test(text) || value < min || value > max) {
    throw usageError(`${flag}: expected a number from ${min} to ${max}, got ${text}`);
  }
  return value;
}

function duration(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = durationMs(text);
  if (value === undefined) throw usageError(`${flag}: expected a duration such as 30s or 5m, got ${text}`);
  return value;
}

function oneOf<T extends string>(flag: string, text: string | undefined, names: readonly T[]): T | undefined {
  if (text === undefined) return undefined;
  const name = names.find((candidate) => candidate === text);
  if (name === undefined) throw usageError(`${flag}: expected ${names.join(' or ')}, got ${text}`);
  return name;
}
