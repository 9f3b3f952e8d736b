import { MetadataError } from './errors.ts';

/** Location of a request: checked in form, not yet in address. */
export type Location = {
  readonly url: URL;
  /** Host without brackets. */
  readonly host: string;
  readonly port: number;
};

export type LocationOptions = {
  /** Base URL, without a trailing slash; null: content in IPFS is unavailable. */
  readonly ipfsGateway: string | null;
  /** Allowed ports besides the gateway's. */
  readonly ports: ReadonlySet<number>;
};

/**
 * Ports of the web. The author of a token chooses the host, and any other port is another service. A page must not make this service speak to it.
 * Hardly any metadata is on other ports.
 */
export const webPorts: ReadonlySet<number> = new Set([80, 443]);

/** Most characters of a URI. Longer ones contain the content itself, which is no address. */
const URI_CHARS_MAX = 2048;

/** Multihash in base58, base32, base36 or base16. */
const CID = /^[A-Za-z0-9]{10,128}$/;

/**
 * Resolves a URI of a token, or of a redirect, to a location.
 *
 * @param base URL of the redirect, whose `Location` may be relative
 * @throws MetadataError `uri_unusable`
 */
export function locate(uri: string, { ipfsGateway, ports }: LocationOptions, base?: URL): Location {
  if (uri.length > URI_CHARS_MAX) throw unusable(`a URI of more than ${URI_CHARS_MAX} characters`);
  const given = URL.parse(uri.trim(), base?.href);
  if (given === null) throw unusable('not a URI');
  if (given.protocol === 'ipfs:') return inGateway(uri.trim(), ipfsGateway);
  if (given.protocol !== 'http:' && given.protocol !== 'https:')
    throw unusable(`scheme ${given.protocol.slice(0, 20)}`);
  if (given.username !== '' || given.password !== '') throw unusable('credentials in a URI');
  given.hash = '';
  const location = locationOf(given);
  const isGateway = ipfsGateway !== null && new URL(ipfsGateway).origin === given.origin;
  if (!isGateway && !ports.has(location.port)) throw unusable(`port ${location.port}`);
  return location;
}

/** Maps `ipfs://CID/PATH`, also with `ipfs/` before the CID. The query and the fragment are dropped, because content has neither. */
function inGateway(uri: string, gateway: string | null): Location {
  if (gateway === null) throw unusable('in IPFS, and no gateway is configured');
  const text = uri.replace(/^ipfs:/i, '').replace(/[?#].*$/s, '');
  const segments = text.split(/[/\\]+/).filter((segment) => segment !== '');
  const start = segments.findIndex((segment) => segment.toLowerCase() !== 'ipfs');
  const [cid = '', ...path] = start < 0 ? [] : segments.slice(start);
  if (!CID.test(cid)) throw unusable('no content id');
  const isFolder = /[/\\]$/.test(text);
  return locationOf(new URL([`${gateway}/ipfs/${cid}`, ...normalized(path), ...(isFolder ? [''] : [])].join('/')));
}

/** Returns a path without dot segments. It stays below its root however often a gateway decodes it. */
function normalized(segments: readonly string[]): readonly string[] {
  const path: string[] = [];
  for (const segment of segments) {
    const name = decoded(segment).trim();
    if (name === '.') continue;
    if (name === '..') {
      if (path.pop() === undefined) throw unusable('a path out of its content');
      continue;
    }
    // oxlint-disable-next-line no-control-regex -- what must not be in a name
    if (/[/\\\u0000-\u001f\u007f]/.test(name)) throw unusable('a separator or a control character in a name');
    // A URL loses spaces at its end, so they are escaped.
    path.push(segment.replaceAll(' ', '%20'));
  }
  return path;
}

/** Resolves ASCII escapes until none is left. Each turn shortens the text, whose length is bounded. */
function decoded(segment: string): string {
  let text = segment;
  for (;;) {
    const next = text.replace(/%([0-7][0-9a-f])/gi, (_escape, hex: string) => String.fromCharCode(parseInt(hex, 16)));
    if (next === text) return text;
    text = next;
  }
}

function locationOf(url: URL): Location {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return { url, host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port };
}

function unusable(why: string): MetadataError {
  return new MetadataError('uri_unusable', `cannot be fetched: ${why}`);
}
