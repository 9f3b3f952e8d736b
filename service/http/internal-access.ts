import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';

import { isJson } from './media-type.ts';

/** A request that the internal listener refuses before anything of it is read. */
export type AccessRefusal = { readonly status: 403 | 415 | 421; readonly error: string };

/** Decides whether a request may pass; undefined when it may. */
export type InternalAccess = (message: IncomingMessage) => AccessRefusal | undefined;

/** Domains that only the DNS of a cluster answers for. */
const clusterDomains = ['.svc', '.cluster.local'];

/** A host name without a port: letters, digits, hyphens, underscores and single dots. */
const hostName = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

/**
 * Protects the internal listener from web pages. A page of any origin can send requests to a loopback address. A page whose DNS name is
 * rebound to that address reads the answers too.
 *
 * - 421: the host is no IP address, not `localhost`, no name of a cluster and none of `names`
 * - 403: a page of another origin sends the request
 * - 415: a POST whose media type is not JSON, because a page may send all other types without a preflight
 *
 * @param names further host names, without ports
 */
export function createInternalAccess(names: readonly string[]): InternalAccess {
  const known = new Set(['localhost', ...names.map(nameOf)]);
  const isOurs = (authority: string): boolean => {
    const host = hostOf(authority);
    if (host === undefined) return false;
    return isAddress(host) || known.has(host) || clusterDomains.some((domain) => host.endsWith(domain));
  };

  return (message) => {
    const { method, headersDistinct: headers } = message;
    const [host = '', ...furtherHosts] = headers['host'] ?? [];
    const target = targetAuthority(message.url ?? '');
    if (furtherHosts.length > 0 || !isOurs(host) || (target !== undefined && !isOurs(target))) return misdirected;
    const isForeign = (headers['sec-fetch-site'] ?? []).some((site) => site !== 'none' && site !== 'same-origin');
    const origins = headers['origin'] ?? [];
    if (isForeign || origins.some((origin) => !isSameOrigin(origin, target ?? host))) return crossOrigin;
    return method === 'POST' && !isJson(message) ? notJson : undefined;
  };
}

const misdirected: AccessRefusal = {
  status: 421,
  error: 'this listener answers IP addresses, localhost, names of the cluster and names of --internal-name only',
};
const crossOrigin: AccessRefusal = { status: 403, error: 'this listener answers no page of another origin' };
const notJson: AccessRefusal = { status: 415, error: 'expected the media type application/json' };

/** Scheme and authority of a target in absolute form. */
const absoluteForm = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i;

/** The authority of a request target in absolute form, which wins over the header; undefined for any other form. */
function targetAuthority(url: string): string | undefined {
  return absoluteForm.exec(url)?.[1];
}

/** Returns the host of `host[:port]` in lower case, without brackets and without the trailing dot. Undefined when malformed. */
function hostOf(authority: string): string | undefined {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(authority) ?? [];
  if (bracketed !== undefined) return isIPv6(bracketed) ? bracketed.toLowerCase() : undefined;
  const host = nameOf(plain);
  return hostName.test(host) ? host : undefined;
}

/** DNS names have no case, and a name with a dot at its end is the same name. */
function nameOf(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

function isAddress(host: string): boolean {
  return isIPv4(host) || isIPv6(host);
}

/** True when an `Origin` is a page of this listener, behind TLS or not. */
function isSameOrigin(origin: string, authority: string): boolean {
  const [, scheme] = /^(https?):\/\//i.exec(origin) ?? [];
  const own = `${scheme ?? 'http'}://${authority}`;
  return (
    scheme !== undefined && URL.canParse(origin) && URL.canParse(own) && new URL(origin).host === new URL(own).host
  );
}
