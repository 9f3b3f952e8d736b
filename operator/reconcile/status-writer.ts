import { canonicalJson } from '../desired/canonical.ts';
import type { RequestBounds } from '../kubernetes/client.ts';
import { isApiError } from '../kubernetes/errors.ts';
import type { Condition, KubernetesObject } from '../kubernetes/object.ts';
import { conditionTypes } from '../status/conditions.ts';
import type { Writer } from './writer.ts';

type Status = { readonly conditions?: readonly Condition[] } & Readonly<Record<string, unknown>>;

const ownConditions: ReadonlySet<string> = new Set(conditionTypes);

/** Writes the status if it differs from what is there. True when it was written. */
export async function writeStatus(
  of: KubernetesObject,
  status: Status,
  writer: Pick<Writer, 'applyStatus'>,
  bounds: RequestBounds,
): Promise<boolean> {
  const present = (of.status ?? {}) as Status;
  if (comparable(status) === comparable(present)) return false;
  const { apiVersion, kind, metadata } = of;
  const { name, namespace = '', uid = '' } = metadata;
  // The UID prevents writing to a new resource of the same name.
  try {
    await writer.applyStatus({ apiVersion, kind, metadata: { name, namespace, uid }, status }, bounds);
    return true;
  } catch (error) {
    // The resource was deleted during the reconcile: no status is needed.
    if (isApiError(error, 'not_found', 'conflict')) return false;
    throw error;
  }
}

function comparable({ conditions = [], ...rest }: Status): string {
  const own = conditions.filter(({ type }) => ownConditions.has(type));
  return canonicalJson({ ...rest, conditions: own.toSorted((a, b) => (a.type < b.type ? -1 : 1)) });
}
