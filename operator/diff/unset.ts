import { fieldPath, isFields } from '../kubernetes/keyed-lists.ts';

// Some types of the API server have no absent form, so an empty value is no value there. The lists follow the Go types and defaults of Kubernetes 1.36.

/** Fields whose empty value gets a default of the server. */
const defaulted: readonly RegExp[] = [
  /\.(imagePullPolicy|terminationMessagePath|terminationMessagePolicy|dnsPolicy|schedulerName)$/,
  /\.(timeoutSeconds|periodSeconds|successThreshold|failureThreshold|protocol)$/,
  /\.(httpGet\.(path|scheme)|fieldRef\.apiVersion|image\.pullPolicy)$/,
  /\.(iscsi\.iscsiInterface|rbd\.(pool|user|keyring)|scaleIO\.(storageMode|fsType))$/,
];

/** Fields whose `false` or 0 the server drops. */
const dropped =
  /\.(hostPort|readOnly|stdin|stdinOnce|tty|initialDelaySeconds|chapAuthDiscovery|chapAuthSession|sslEnabled|(gcePersistentDisk|awsElasticBlockStore)\.partition)$/;

/** Fields of maps from text to text. The server keeps an empty text there. */
const textOfMap = /(^|\.)(labels|annotations|nodeSelector|matchLabels|data)(\.[^.[]+|\[[^\]]+\])$/;

/** True for a wanted value that sets nothing. `null` sets nothing anywhere. */
export function setsNothing(desired: unknown, path: string): boolean {
  return desired === null || ((desired === '' || desired === 0) && defaulted.some((field) => field.test(path)));
}

/** True for a wanted value that the server drops, so that live has no field. Objects and lists are dropped when all in them is. */
export function isDropped(desired: unknown, path: string): boolean {
  if (setsNothing(desired, path)) return true;
  if (desired === '') return !textOfMap.test(path);
  if (desired === false || desired === 0) return dropped.test(path);
  if (Array.isArray(desired)) return desired.length === 0;
  return (
    isFields(desired) &&
    Object.entries(desired).every(([name, value]) => value === undefined || isDropped(value, fieldPath(path, name)))
  );
}
