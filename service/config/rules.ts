import { connectionRules } from './connection-rules.ts';
import { readDurationMs } from './duration.ts';
import type { ConfigProblem } from './errors.ts';
import { formats } from './formats.ts';
import type { TonApi } from './manifest.gen.ts';
import { podTemplateRules } from './pod-template-rules.ts';
import { rule, type Rule } from './rule.ts';
import { streamingRules } from './streaming-rules.ts';
import { surfaceRules } from './surface-rules.ts';

type Spec = TonApi['spec'];
type Item<L> = L extends readonly (infer T)[] ? T : never;

/** Most characters of a name. Names of children are derived from it, and label values end at 63. */
const NAME_LENGTH_MAX = 40;
const REQUEST_TIMEOUT_MIN_MS = 100;
const REQUEST_TIMEOUT_MAX_MS = 300_000;

/** Targets of an autoscaler. */
const targets = ['targetCPUUtilization', 'targetRequestsPerSecond', 'targetStreamConnections'] as const;

/** Rule that a spec needs `postgres`, except where `without` holds in CEL. `cause` names the field that needs it. */
function postgresRule(
  without: string,
  reads: readonly string[],
  isNeeded: (spec: Spec) => boolean,
  cause: string,
): Rule {
  return rule('spec', `${without} || has(self.postgres)`, reads, (spec: Spec) => [
    isNeeded(spec) && spec.postgres === undefined,
    'postgres',
    `expected postgres with secretRef or parts, because ${cause}, got nothing`,
  ]);
}

/** Every rule of the TonApi about one state. Rules about a change (`oldSelf`) have no previous state to compare here. */
export const rules: readonly Rule[] = [
  rule('', 'size(self.metadata.name) <= 40', ['metadata'], ({ metadata }: TonApi) => {
    const { length } = String(metadata?.['name']);
    return [length > NAME_LENGTH_MAX, 'metadata.name', `expected at most ${NAME_LENGTH_MAX} characters, got ${length}`];
  }),
  rule('spec', 'has(self.liteServers) != has(self.liteServerConfigRef)', [], (spec: Spec) => {
    const broken = (spec.liteServers === undefined) === (spec.liteServerConfigRef === undefined);
    const found = spec.liteServers === undefined ? 'neither' : 'both';
    return [broken, 'liteServers', `expected exactly one of liteServers, liteServerConfigRef, got ${found}`];
  }),
  rule('spec', '!has(self.initBlock) || has(self.zeroState)', [], (spec: Spec) => [
    spec.initBlock !== undefined && spec.zeroState === undefined,
    'zeroState',
    'expected rootHash and fileHash, because initBlock is set, got nothing',
  ]),
  rule(
    'spec',
    '!has(self.anonymousPlan) || self.plans.exists(p, p.name == self.anonymousPlan)',
    ['anonymousPlan', 'plans[].name'],
    ({ anonymousPlan, plans }: Spec) => [
      anonymousPlan !== undefined && !plans.some((plan) => plan.name === anonymousPlan),
      'anonymousPlan',
      `expected the name of a plan (${plans.map((plan) => plan.name).join(', ')}), got "${anonymousPlan}"`,
    ],
  ),
  rule(
    'spec',
    "duration(self.requestTimeout) >= duration('100ms') && duration(self.requestTimeout) <= duration('5m')",
    ['requestTimeout'],
    ({ requestTimeout }: Spec) => {
      const timeoutMs = readDurationMs(requestTimeout);
      const broken = timeoutMs < REQUEST_TIMEOUT_MIN_MS || timeoutMs > REQUEST_TIMEOUT_MAX_MS;
      return [broken, 'requestTimeout', `expected a duration from 100ms to 5m, got ${requestTimeout}`];
    },
  ),
  postgresRule('!has(self.indexer)', [], ({ indexer }) => indexer !== undefined, 'indexer is set'),
  postgresRule('!has(self.tokenMetadata)', [], (spec) => spec.tokenMetadata !== undefined, 'tokenMetadata is set'),
  postgresRule("!('v3' in self.surfaces)", ['surfaces'], ({ surfaces }) => surfaces.includes('v3'), 'surfaces has v3'),
  ...surfaceRules,
  ...streamingRules,
  rule(
    'spec',
    "!self.plans.exists(p, p.archive) || has(self.liteServerConfigRef) || self.liteServers.exists(l, l.role == 'archive')",
    ['plans[].name', 'plans[].archive', 'liteServers[].role'],
    ({ plans, liteServers, liteServerConfigRef }: Spec) => {
      const wanted = plans.find((plan) => plan.archive);
      const served = liteServerConfigRef !== undefined || liteServers?.some(({ role }) => role === 'archive') === true;
      return [
        wanted !== undefined && !served,
        'liteServers',
        `expected a lite server with role archive, because plan ${wanted?.name} has archive`,
      ];
    },
  ),
  rule(
    'spec',
    "self.plans.all(p, !has(p.liteServerTiers) || p.liteServerTiers.all(t, has(self.liteServers) ? self.liteServers.exists(l, l.tier == t) : t == 'shared'))",
    ['plans[].name', 'plans[].liteServerTiers', 'liteServers[].tier'],
    ({ plans, liteServers }: Spec) => {
      const served = liteServers?.map(({ tier }) => tier) ?? ['shared'];
      const broken = plans.flatMap(({ name, liteServerTiers = [] }) =>
        liteServerTiers.filter((tier) => !served.includes(tier)).map((tier) => ({ name, tier })),
      );
      const [first] = broken;
      return [
        first !== undefined,
        'liteServers',
        `expected a lite server with tier ${first?.tier}, because plan ${first?.name} names that tier`,
      ];
    },
  ),
  rule(
    'spec.liteServers[]',
    "int(self.address.substring(self.address.lastIndexOf(':')+1)) >= 1 && int(self.address.substring(self.address.lastIndexOf(':')+1)) <= 65535",
    ['address'],
    ({ address }: Item<Spec['liteServers']>) => {
      const port = Number(address.slice(address.lastIndexOf(':') + 1));
      return [port < 1 || port > 65_535, 'address', `expected a port from 1 to 65535, got ${port}`];
    },
  ),
  rule(
    'spec.plans[]',
    '!has(self.burst) || self.burst >= self.requestsPerSecond',
    ['burst', 'requestsPerSecond'],
    ({ burst, requestsPerSecond }: Item<Spec['plans']>) => [
      burst !== undefined && burst < requestsPerSecond,
      'burst',
      `expected at least requestsPerSecond (${requestsPerSecond}), got ${burst}`,
    ],
  ),
  ...connectionRules,
  rule(
    'spec.observability.tracing',
    "!has(self.caBundle) || self.endpoint.startsWith('https://')",
    ['endpoint'],
    ({ caBundle, endpoint }: NonNullable<NonNullable<Spec['observability']>['tracing']>) => [
      caBundle !== undefined && !endpoint.startsWith('https://'),
      'endpoint',
      `expected an https URL, because caBundle is set, got ${endpoint}`,
    ],
  ),
  rule(
    'spec.indexer',
    "self.mode == 'Partitioned' || self.partitions == 1",
    ['mode', 'partitions'],
    ({ mode, partitions }: NonNullable<Spec['indexer']>) => [
      mode !== 'Partitioned' && partitions !== 1,
      'partitions',
      `expected 1, because mode is ${mode}, got ${partitions}`,
    ],
  ),
  rule(
    'spec.tokenMetadata',
    "!has(self.ipfsGateway) || self.ipfsGateway.matches('^https?://([^/?#@]*@)?(((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.]){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])|[[][0-9A-Fa-f:.]+[]]|([^][/?#@:]*[.])?[^][/?#@:.]*[^][/?#@:.0-9][^][/?#@:.]*[.]?)(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])?)?([/?#].*)?$')",
    ['ipfsGateway'],
    ({ ipfsGateway = 'https://ipfs.io' }: NonNullable<Spec['tokenMetadata']>) => [
      !formats.uri.isReadable(ipfsGateway),
      'ipfsGateway',
      `expected an http or https URL, got ${ipfsGateway}`,
    ],
  ),
  rule(
    'spec.tokenMetadata',
    'self.concurrencyPerHost <= self.concurrency',
    ['concurrencyPerHost', 'concurrency'],
    ({ concurrencyPerHost, concurrency }: NonNullable<Spec['tokenMetadata']>) => [
      concurrencyPerHost > concurrency,
      'concurrencyPerHost',
      `expected at most concurrency (${concurrency}), got ${concurrencyPerHost}`,
    ],
  ),
  rule(
    'spec.autoscaling',
    'self.minReplicas <= self.maxReplicas',
    ['minReplicas', 'maxReplicas'],
    ({ minReplicas, maxReplicas }: NonNullable<Spec['autoscaling']>) => [
      minReplicas > maxReplicas,
      'minReplicas',
      `expected at most maxReplicas (${maxReplicas}), got ${minReplicas}`,
    ],
  ),
  rule(
    'spec.autoscaling',
    'has(self.targetCPUUtilization) || has(self.targetRequestsPerSecond) || has(self.targetStreamConnections)',
    [],
    (autoscaling: NonNullable<Spec['autoscaling']>) => [
      targets.every((target) => autoscaling[target] === undefined),
      '',
      'expected targetCPUUtilization, targetRequestsPerSecond or targetStreamConnections, got none',
    ],
  ),
  rule(
    'spec.exposure',
    "self.kind == 'HTTPRoute' ? has(self.parentRefs) : !has(self.parentRefs)",
    ['kind'],
    ({ kind, parentRefs }: NonNullable<Spec['exposure']>) => [
      (kind === 'HTTPRoute') !== (parentRefs !== undefined),
      'parentRefs',
      kind === 'HTTPRoute'
        ? 'expected a Gateway, because kind is HTTPRoute'
        : `expected no Gateway, because kind is ${kind}`,
    ],
  ),
  rule(
    'spec.exposure',
    "!has(self.parentRefs) || self.parentRefs.all(a, self.parentRefs.exists_one(b, a.name == b.name && (has(a.__namespace__) ? a.__namespace__ : '') == (has(b.__namespace__) ? b.__namespace__ : '') && (!has(a.sectionName) || !has(b.sectionName) || a.sectionName == b.sectionName)))",
    ['parentRefs'],
    ({ parentRefs = [] }: NonNullable<Spec['exposure']>) => {
      const isSame = (a: Item<typeof parentRefs>, b: Item<typeof parentRefs>): boolean =>
        a.name === b.name &&
        (a.namespace ?? '') === (b.namespace ?? '') &&
        (a.sectionName === undefined || b.sectionName === undefined || a.sectionName === b.sectionName);
      const twice = parentRefs.find((parent) => parentRefs.filter((other) => isSame(parent, other)).length !== 1);
      return [
        twice !== undefined,
        'parentRefs',
        `expected a different sectionName in each entry for Gateway ${twice?.name}`,
      ];
    },
  ),
  rule(
    'spec.service',
    "self.type == 'LoadBalancer' || !(has(self.loadBalancerClass) || has(self.loadBalancerSourceRanges))",
    ['type'],
    ({ type, loadBalancerClass, loadBalancerSourceRanges }: NonNullable<Spec['service']>) => [
      type !== 'LoadBalancer' && (loadBalancerClass !== undefined || loadBalancerSourceRanges !== undefined),
      'type',
      `expected LoadBalancer, because ${loadBalancerClass === undefined ? 'loadBalancerSourceRanges' : 'loadBalancerClass'} is set, got ${type}`,
    ],
  ),
  rule(
    'spec.service',
    "self.type != 'ClusterIP' || !has(self.externalTrafficPolicy)",
    ['type'],
    ({ type, externalTrafficPolicy }: NonNullable<Spec['service']>) => [
      type === 'ClusterIP' && externalTrafficPolicy !== undefined,
      'type',
      `expected LoadBalancer or NodePort, because externalTrafficPolicy is set, got ${type}`,
    ],
  ),
  rule(
    'spec.rollout',
    "!has(self.maxSurge) || !(self.maxSurge == 0 || self.maxSurge == '0%') || (has(self.maxUnavailable) && !(self.maxUnavailable == 0 || self.maxUnavailable == '0%'))",
    ['maxSurge', 'maxUnavailable'],
    ({ maxSurge, maxUnavailable = 0 }: NonNullable<Spec['rollout']>) => [
      [maxSurge, maxUnavailable].every((pods) => pods === 0 || pods === '0%'),
      'maxUnavailable',
      `expected more than 0, because maxSurge is ${maxSurge}, got ${maxUnavailable}`,
    ],
  ),
  rule(
    'spec.rollout',
    "self.strategy == 'Canary' ? has(self.steps) && size(self.steps) > 0 : !has(self.steps)",
    ['strategy', 'steps'],
    ({ strategy, steps }: NonNullable<Spec['rollout']>) => [
      strategy === 'Canary' ? (steps?.length ?? 0) === 0 : steps !== undefined,
      'steps',
      strategy === 'Canary'
        ? 'expected at least one step, because strategy is Canary'
        : `expected no steps, because strategy is ${strategy}`,
    ],
  ),
  rule(
    'spec.keys',
    "(self.allowedNamespaces == 'Selector') == has(self.selector)",
    ['allowedNamespaces'],
    ({ allowedNamespaces, selector }: NonNullable<Spec['keys']>) => [
      (allowedNamespaces === 'Selector') !== (selector !== undefined),
      'selector',
      `expected ${selector === undefined ? 'labels' : 'no selector'}, because allowedNamespaces is ${allowedNamespaces}`,
    ],
  ),
  rule(
    'spec.observability.tracing',
    "self.endpoint.matches('^https?://([^/?#@]*@)?(((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.]){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])|[[][0-9A-Fa-f:.]+[]]|([^][/?#@:]*[.])?[^][/?#@:.]*[^][/?#@:.0-9][^][/?#@:.]*[.]?)(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])?)?([/?#].*)?$')",
    ['endpoint'],
    ({ endpoint }: NonNullable<NonNullable<Spec['observability']>['tracing']>) => [
      !/^https?:/.test(endpoint) || !formats.uri.isReadable(endpoint),
      'endpoint',
      `expected an http or https URL, got ${endpoint}`,
    ],
  ),
  ...podTemplateRules,
];

/**
 * Checks the rules on a manifest with defaults filled in.
 *
 * @param known shape problems found before; a rule that reads such a field is skipped
 */
export function checkRules(manifest: unknown, known: readonly ConfigProblem[]): ConfigProblem[] {
  return rules.flatMap(({ scope, reads, check }) =>
    objectsAt(manifest, scope).flatMap(({ path, value }) => {
      const misshapen = reads.some((field) => known.some((problem) => touches(problem.path, join(path, field))));
      const broken = misshapen ? undefined : check(value as never);
      return broken === undefined ? [] : [{ path: join(path, broken.field), expected: broken.expected }];
    }),
  );
}

type Located = { readonly path: string; readonly value: unknown };

/** Returns the objects named by a scope; none if their parent is missing. */
function objectsAt(manifest: unknown, scope: string): Located[] {
  let found: Located[] = [{ path: '', value: manifest }];
  for (const step of scope === '' ? [] : scope.split('.')) {
    const name = step.replace('[]', '');
    const fields = found.map(({ path, value }) => ({
      path: join(path, name),
      value: (value as Record<string, unknown>)[name],
    }));
    found = (step.endsWith('[]') ? fields.flatMap(elementsOf) : fields).filter(({ value }) => isObject(value));
  }
  return found;
}

function elementsOf({ path, value }: Located): Located[] {
  return Array.isArray(value) ? value.map((element, index) => ({ path: `${path}[${index}]`, value: element })) : [];
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reports whether a problem at one path affects a read at the other. The other is the same path, a parent or a child. `[]` is any element. */
function touches(problemPath: string, readPath: string): boolean {
  const problem = stepsOf(problemPath);
  const read = stepsOf(readPath);
  const shared = Math.min(problem.length, read.length);
  return Array.from({ length: shared }, (_, step) => step).every(
    (step) => problem[step] === read[step] || (read[step] === '[]' && problem[step]?.startsWith('[') === true),
  );
}

/** `spec.plans[0].burst` -> spec, plans, [0], burst. */
function stepsOf(path: string): string[] {
  return path.match(/\[\d*\]|[^.[]+/g) ?? [];
}

function join(path: string, field: string): string {
  if (path === '') return field;
  return field === '' ? path : `${path}.${field}`;
}
