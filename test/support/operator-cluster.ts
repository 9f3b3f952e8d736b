import { setTimeout as sleep } from 'node:timers/promises';

import { createClusterClient, type ClusterClient, type ClusterObject } from './cluster-client.ts';
import { startControlPlane, type ControlPlane, type ControlPlaneOptions } from './control-plane.ts';
import { applyDefinitions } from './crds.ts';
import { startOperatorUnderTest, type OperatorUnderTest } from './operator.ts';

/** A control plane without nodes, and an operator on it: enough for all that is not about running pods. */
export type OperatorCluster = {
  readonly plane: ControlPlane;
  readonly client: ClusterClient;
  readonly operator: OperatorUnderTest;
  /** The API path of a child, `Deployment main-api`. */
  child(kind: ChildKind, name: string): Promise<ClusterObject | undefined>;
  apply(name: string, spec?: Readonly<Record<string, unknown>>): Promise<ClusterObject>;
  annotate(name: string, annotations: Readonly<Record<string, string | null>>): Promise<ClusterObject>;
  /** Conditions by type. */
  conditions(name: string): Promise<Readonly<Record<string, { status: string; reason: string; message: string }>>>;
  /** Waits until the operator has observed the newest generation of each TonApi and then writes nothing for a while. */
  settled(...names: readonly string[]): Promise<void>;
  /** Ends the operator and starts another one. */
  restartOperator(args?: readonly string[]): Promise<void>;
  stop(): Promise<void>;
};

export const tonApiPath = '/apis/tonplane.dev/v1alpha1/namespaces/default/tonapis';

const roots = {
  ConfigMap: '/api/v1',
  Secret: '/api/v1',
  Service: '/api/v1',
  ServiceAccount: '/api/v1',
  Deployment: '/apis/apps/v1',
  NetworkPolicy: '/apis/networking.k8s.io/v1',
  PodDisruptionBudget: '/apis/policy/v1',
  HorizontalPodAutoscaler: '/apis/autoscaling/v2',
  Ingress: '/apis/networking.k8s.io/v1',
} as const;
export type ChildKind = keyof typeof roots;

const plurals: Readonly<Partial<Record<ChildKind, string>>> = {
  NetworkPolicy: 'networkpolicies',
  Ingress: 'ingresses',
};

/** Path of all objects of a kind in the namespace of the tests. */
export function pathOf(kind: ChildKind): string {
  return `${roots[kind]}/namespaces/default/${plurals[kind] ?? `${kind.toLowerCase()}s`}`;
}

/** The smallest TonApi. */
export function tonApi(name: string, spec: Readonly<Record<string, unknown>> = {}): ClusterObject {
  return {
    apiVersion: 'tonplane.dev/v1alpha1',
    kind: 'TonApi',
    metadata: { name, namespace: 'default' },
    spec: {
      network: 'custom',
      zeroState: { rootHash: `${'A'.repeat(43)}=`, fileHash: `${'A'.repeat(43)}=` },
      liteServers: [{ name: 'a', address: '127.0.0.1:4443', publicKey: `${'A'.repeat(43)}=` }],
      plans: [{ name: 'free', requestsPerSecond: 1, burst: 1 }],
      anonymousPlan: 'free',
      rateLimits: { redis: { embedded: true } },
      ...spec,
    },
  };
}

/** Writes stand still for so long before things count as settled. */
const quietMs = 1500;

const settleTimeoutMs = 180_000;

export async function startOperatorCluster(
  options: ControlPlaneOptions & { readonly args?: readonly string[] } = {},
): Promise<OperatorCluster> {
  const plane = await startControlPlane(options);
  const client = createClusterClient({ ...plane, token: plane.adminToken });
  await applyDefinitions(client);
  let operator = await startOperatorUnderTest(plane, options.args);
  return {
    plane,
    client,
    get operator() {
      return operator;
    },
    child: (kind, name) => client.find(`${pathOf(kind)}/${name}`),
    apply: (name, spec) => client.apply(`${tonApiPath}/${name}`, tonApi(name, spec), 'user'),
    annotate: (name, annotations) => client.merge(`${tonApiPath}/${name}`, { metadata: { annotations } }),
    async conditions(name) {
      const found = (await client.get(`${tonApiPath}/${name}`))['status']?.conditions ?? [];
      return Object.fromEntries(
        (found as { type: string; status: string; reason: string; message: string }[]).map((one) => [one.type, one]),
      );
    },
    async settled(...names) {
      for (const name of names) {
        const deadline = Date.now() + settleTimeoutMs;
        while (!(await isObserved(client, name))) {
          if (Date.now() > deadline) throw new Error(`TonApi ${name} was not observed`);
          await sleep(50);
        }
      }
      let last = '';
      let sinceMs = performance.now();
      while (performance.now() - sinceMs < quietMs) {
        const now = JSON.stringify(await operator.writes());
        if (now !== last) [last, sinceMs] = [now, performance.now()];
        await sleep(100);
      }
    },
    async restartOperator(args = options.args) {
      await operator.close();
      operator = await startOperatorUnderTest(plane, args, `operator-${Math.round(performance.now())}`);
    },
    async stop() {
      await operator.close();
      await client.close();
      await plane.stop();
    },
  };
}

async function isObserved(client: ClusterClient, name: string): Promise<boolean> {
  const { metadata, status } = await client.get(`${tonApiPath}/${name}`);
  return metadata.generation === (status as { observedGeneration?: number } | undefined)?.observedGeneration;
}
