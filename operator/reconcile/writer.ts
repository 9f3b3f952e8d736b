import { manager } from '../desired/names.ts';
import type { KubernetesClient, ObjectName, RequestBounds } from '../kubernetes/client.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { resourceOf, type Resource } from '../kubernetes/resources.ts';
import type { Caches } from './caches.ts';
import type { ReconcileMetrics } from './metrics.ts';

/** Sole path of the operator's writes. It counts each write and caches the answer, so that the next reconcile does not act on old state. */
export type Writer = {
  /** Server-side apply with force: only on what we control. */
  apply(object: KubernetesObject, bounds: RequestBounds, as?: string): Promise<KubernetesObject>;
  /** Server-side apply of a name that was free a moment ago. `conflict` when another writer took it and set a field of ours. */
  create(object: KubernetesObject, bounds: RequestBounds): Promise<KubernetesObject>;
  applyStatus(object: KubernetesObject, bounds: RequestBounds): Promise<KubernetesObject>;
  patch(of: Resource, name: ObjectName, change: object, bounds: RequestBounds): Promise<KubernetesObject>;
  delete(object: KubernetesObject, bounds: RequestBounds): Promise<void>;
};

type WriterDependencies = {
  readonly client: KubernetesClient;
  readonly caches: Pick<Caches, 'put'>;
  readonly metrics: Pick<ReconcileMetrics, 'write'>;
};

export function createWriter({ client, caches, metrics }: WriterDependencies): Writer {
  async function counted<T>(kind: string, verb: string, work: Promise<T>): Promise<T> {
    try {
      const answer = await work;
      metrics.write(kind, verb, 'ok');
      return answer;
    } catch (error) {
      metrics.write(kind, verb, 'error');
      throw error;
    }
  }

  async function remembered(kind: string, verb: string, work: Promise<KubernetesObject>): Promise<KubernetesObject> {
    const answer = await counted(kind, verb, work);
    caches.put(answer);
    return answer;
  }

  return {
    apply: (object, bounds, as = manager) =>
      remembered(object.kind, 'apply', client.apply(object, { manager: as, force: true }, bounds)),
    create: (object, bounds) =>
      remembered(object.kind, 'create', client.apply(object, { manager, force: false }, bounds)),
    applyStatus: (object, bounds) =>
      remembered(object.kind, 'status', client.apply(object, { manager, force: true, subresource: 'status' }, bounds)),
    patch: (of, name, change, bounds) => counted(of.kind, 'patch', client.patch(of, name, change, bounds)),
    delete: (object, bounds) =>
      counted(
        object.kind,
        'delete',
        client.delete(resourceOf(object), object.metadata, object.metadata.uid ?? '', bounds),
      ),
  };
}
