/**
 * Gives a process of the process kubelet a network of its own, on loopback: loaded into every Node process of a pod by
 * `--import`. A server that listens on every address listens on its pod's; pods (10.244.0.0/16) and Services (10.96.0.0/16)
 * are reached at the same numbers below 127; names of Services come from a file.
 */
import { readFileSync } from 'node:fs';
import { Server, Socket } from 'node:net';

/** What the kubelet tells a pod's process. */
export const podNetworkVariables = {
  /** Address on loopback of this pod. */
  address: 'POD_NETWORK_ADDRESS',
  namespace: 'POD_NETWORK_NAMESPACE',
  /** JSON file: `name.namespace` of every Service -> its address on loopback. */
  names: 'POD_NETWORK_NAMES',
} as const satisfies Record<string, string>;

const everyAddress = new Set<unknown>(['0.0.0.0', '::', '', undefined, null]);

/** Where on loopback an address of the cluster is. */
export function onLoopback(address: string): string {
  return address.replace(/^10\.(?=(244|96)\.)/, '127.');
}

/** Address of a Service's name as pods of the namespace write it; undefined for any other name. */
export function lookUp(host: string, namespace: string, names: Readonly<Record<string, string>>): string | undefined {
  const [name = '', of = namespace, ...rest] = host.split('.');
  const suffix = rest.join('.');
  return suffix === '' || suffix === 'svc' || suffix === 'svc.cluster.local' ? names[`${name}.${of}`] : undefined;
}

type AnyArguments = unknown[];
type Method = (this: unknown, ...args: AnyArguments) => unknown;

function install(address: string, namespace: string, namesFile: string): void {
  const translate = (host: string): string => {
    const names = JSON.parse(readFileSync(namesFile, 'utf8')) as Record<string, string>;
    return lookUp(host, namespace, names) ?? onLoopback(host);
  };
  wrap(Socket.prototype, 'connect', (args) => {
    const [first] = args;
    // Inside of Node the arguments come as one array that bears a mark: it must stay that array.
    const options = Array.isArray(first) ? (first[0] as unknown) : first;
    if (typeof options === 'object' && options !== null) {
      const { host } = options as { host?: string };
      if (typeof host !== 'string') return;
      const changed = { ...options, host: translate(host) };
      if (Array.isArray(first)) first[0] = changed;
      else args[0] = changed;
    } else if (typeof args[1] === 'string') args[1] = translate(args[1]);
  });
  wrap(Server.prototype, 'listen', (args) => {
    const [first, second] = args;
    if (typeof first === 'object' && first !== null) {
      const { host, port } = first as { host?: string; port?: number };
      if (port !== undefined && everyAddress.has(host)) args[0] = { ...first, host: address };
    } else if (typeof second === 'string') {
      if (everyAddress.has(second)) args[1] = address;
    } else if (typeof first === 'number') args.splice(1, 0, address);
  });
}

/** Calls `change` on a method's arguments before the method gets them. */
function wrap(prototype: object, name: string, change: (args: AnyArguments) => void): void {
  const original = Reflect.get(prototype, name) as Method;
  Reflect.set(prototype, name, function (this: unknown, ...args: AnyArguments) {
    change(args);
    return original.apply(this, args);
  });
}

const given = Object.values(podNetworkVariables).map((name) => process.env[name]);
const [address, namespace, names] = given;
if (address !== undefined && namespace !== undefined && names !== undefined) install(address, namespace, names);
