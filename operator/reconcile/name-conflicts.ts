import type { DesiredObject } from '../desired/references.ts';
import { nameOf } from '../diff/diff.ts';
import type { KubernetesClient, RequestBounds } from '../kubernetes/client.ts';
import { controllerOf, type KubernetesObject } from '../kubernetes/object.ts';
import { resourceOf } from '../kubernetes/resources.ts';
import { annotationOf, type TonApi } from '../resource.ts';

/**
 * Objects that have the names of children but are not children. They need requests of their own, because our watches see only our label.
 * For foreign objects only the metadata is read.
 */
export async function nameConflicts(
  tonApi: TonApi,
  desired: readonly DesiredObject[],
  children: readonly KubernetesObject[],
  client: KubernetesClient,
  bounds: RequestBounds,
): Promise<KubernetesObject[]> {
  const present = new Set(children.map(nameOf));
  const absent = desired.filter(({ object }) => !present.has(nameOf(object)));
  const found = await Promise.all(absent.map(({ object }) => lookUp(tonApi, object, client, bounds)));
  return found.filter((object) => object !== undefined);
}

async function lookUp(
  tonApi: TonApi,
  wanted: KubernetesObject,
  client: KubernetesClient,
  bounds: RequestBounds,
): Promise<KubernetesObject | undefined> {
  const of = resourceOf(wanted);
  const metadata = await client.getMetadata(of, wanted.metadata, bounds);
  if (metadata === undefined) return undefined;
  const named = { ...metadata, apiVersion: of.apiVersion, kind: of.kind };
  const isOurs = controllerOf(named)?.uid === tonApi.metadata.uid;
  // Ours with our label taken away, or handed to us: it is compared field by field.
  return isOurs || annotationOf(named, 'adopt') === 'true' ? client.get(of, wanted.metadata, bounds) : named;
}
