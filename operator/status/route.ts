import type { KubernetesObject } from '../kubernetes/object.ts';
import type { ReferenceProblem } from './observed.ts';

export const resourceKindOfRoute = 'HTTPRoute';

type RouteCondition = {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
};
type Parent = { readonly parentRef?: { readonly name?: string }; readonly conditions?: readonly RouteCondition[] };

/**
 * Objection of a Gateway to our route. Undefined when all Gateways that have read the route accept it.
 * A Gateway that has not read it counts as no objection.
 */
export function routeProblem({ status }: KubernetesObject): ReferenceProblem | undefined {
  const parents = (status?.['parents'] ?? []) as readonly Parent[];
  const refusals = parents.flatMap(({ parentRef, conditions = [] }) =>
    conditions
      .filter(({ type, status: value }) => (type === 'Accepted' || type === 'ResolvedRefs') && value === 'False')
      .map(({ reason, message }) => ({
        reason: reason ?? 'RouteNotAccepted',
        message: `Gateway ${parentRef?.name ?? ''} does not take the route: ${message ?? reason ?? ''}`,
      })),
  );
  return refusals[0];
}
