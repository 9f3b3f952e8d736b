import type { KubernetesObject } from '../kubernetes/object.ts';
import type { ReferenceProblem } from './observed.ts';

export const resourceKindOfRoute = 'HTTPRoute';

type RouteCondition = {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
};
/** Gateway, or one listener of it, as a route names it. Without a namespace: in that of the route. */
type ParentRef = {
  readonly name?: string;
  readonly namespace?: string;
  readonly sectionName?: string;
  readonly port?: number;
};
type Parent = { readonly parentRef?: ParentRef; readonly conditions?: readonly RouteCondition[] };

/**
 * Objection of a Gateway to our route, or the Gateways that have not taken it. The controller of a Gateway takes a route by the condition `Accepted`.
 * So a Gateway that is not there takes none. The rights of the operator have no Gateways.
 */
export function routeProblem({ metadata, spec, status }: KubernetesObject): ReferenceProblem | undefined {
  const parents = (status?.['parents'] ?? []) as readonly Parent[];
  const refusals = parents.flatMap(({ parentRef, conditions = [] }) =>
    conditions
      .filter(({ type, status: value }) => (type === 'Accepted' || type === 'ResolvedRefs') && value === 'False')
      .map(({ reason, message }) => ({
        reason: reason ?? 'RouteNotAccepted',
        message: `Gateway ${parentRef?.name ?? ''} does not take the route: ${message ?? reason ?? ''}`,
      })),
  );
  if (refusals[0] !== undefined) return refusals[0];
  const keyOf = ({ name, namespace, sectionName, port }: ParentRef): string =>
    [namespace ?? metadata.namespace, name, sectionName, port].join('/');
  const taken = new Set(
    parents
      .filter(({ conditions = [] }) => conditions.some(isAcceptance))
      .map(({ parentRef = {} }) => keyOf(parentRef)),
  );
  const wanted = (spec?.['parentRefs'] ?? []) as readonly ParentRef[];
  const pending = wanted.filter((parentRef) => !taken.has(keyOf(parentRef)));
  if (pending.length === 0) return undefined;
  const names = pending.map(({ name, namespace }) => `Gateway ${name} of namespace ${namespace ?? metadata.namespace}`);
  const message = `${[...new Set(names)].join(', ')}: not there, or its controller has not taken the route yet`;
  return { reason: 'GatewayPending', message };
}

function isAcceptance({ type, status }: RouteCondition): boolean {
  return type === 'Accepted' && status === 'True';
}
