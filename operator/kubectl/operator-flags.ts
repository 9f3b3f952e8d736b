import { OptionsError, PluginError } from '../errors.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { isApiError } from '../kubernetes/errors.ts';
import { keyOf, type KubernetesObject } from '../kubernetes/object.ts';
import { resources } from '../kubernetes/resources.ts';
import { parseOptions, type OperatorOptions } from '../options.ts';
import type { PluginOptions } from './options.ts';

/** Labels of the chart's Deployment, under any name of the chart. */
const labelSelector = 'app.kubernetes.io/part-of=tonplane,app.kubernetes.io/component=operator';

const versionLabel = 'app.kubernetes.io/version';

type Found = { readonly deployment: KubernetesObject; readonly options: OperatorOptions };

/**
 * Reads the options of the operator from its Deployment: a plan with other images or labels would be the plan of another operator.
 * Without a Deployment the options are the defaults, and a note says so.
 *
 * @throws PluginError when several operators fit, or the API server does not show them
 */
export async function operatorOptions(
  { operator }: Pick<PluginOptions, 'operator'>,
  {
    client,
    namespace,
    version,
    signal,
  }: {
    readonly client: KubernetesClient;
    readonly namespace: string | undefined;
    readonly version: string;
    readonly signal: AbortSignal;
  },
): Promise<{ readonly operator: OperatorOptions; readonly note: string | undefined }> {
  const deployments = operator === undefined ? await all(client, signal) : [await named(client, operator, signal)];
  const found = deployments.map((deployment) => ({ deployment, options: optionsOf(deployment) }));
  const fitting = operator === undefined ? found.filter(({ options }) => serves(options, namespace)) : found;
  const [one, ...others] = fitting;
  if (others.length > 0) {
    const names = fitting.map(({ deployment }) => keyOf(deployment)).join(', ');
    throw refused('ambiguous', `plan: expected --operator with one of ${names}`);
  }
  if (one === undefined) {
    const note = 'no Deployment of an operator is there for this namespace: the plan has the default flags';
    return { operator: parseOptions([], {}), note };
  }
  return { operator: one.options, note: versionNote(one, version) };
}

async function all(client: KubernetesClient, signal: AbortSignal): Promise<readonly KubernetesObject[]> {
  try {
    // More operators than fit on one page are not in one cluster.
    return (await client.list(resources.Deployment, { labelSelector, limit: 500 }, { signal })).items;
  } catch (error) {
    if (!isApiError(error, 'forbidden')) throw error;
    throw refused(
      'forbidden',
      `plan: expected --operator NAMESPACE/NAME, or the right to list Deployments: ${error.message}`,
    );
  }
}

async function named(
  client: KubernetesClient,
  operator: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<KubernetesObject> {
  const found = await client.get(resources.Deployment, operator, { signal });
  if (found === undefined) throw refused('not_found', `Deployment ${operator.namespace}/${operator.name}: not found`);
  return found;
}

function optionsOf(deployment: KubernetesObject): OperatorOptions {
  const { template } = (deployment.spec ?? {}) as {
    template?: { spec?: { containers?: readonly { name: string; args?: readonly string[] }[] } };
  };
  const container = template?.spec?.containers?.find(({ name }) => name === 'operator');
  try {
    return parseOptions(container?.args ?? [], { POD_NAMESPACE: deployment.metadata.namespace });
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    throw refused('other_release', `Deployment ${keyOf(deployment)} has flags of another release: ${error.message}`);
  }
}

function serves({ namespaces }: OperatorOptions, namespace: string | undefined): boolean {
  return namespaces === undefined || namespace === undefined || namespaces.includes(namespace);
}

function versionNote({ deployment }: Found, version: string): string | undefined {
  const running = deployment.metadata.labels?.[versionLabel];
  if (running === undefined || running === version) return undefined;
  return `the operator is of release ${running}, and the plan of release ${version}`;
}

function refused(code: PluginError['code'], message: string): PluginError {
  return new PluginError({ code, message, data: {}, retryable: false });
}
