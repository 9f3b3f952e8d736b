import { checkServerIdentity, type ConnectionOptions } from 'node:tls';

import type { ClientCertificate } from '../tls/client-certificate.ts';

/** A way to connect: without TLS, or with these options. */
export type TlsWay = false | ConnectionOptions;

/** Ways to connect to a URL of Postgres. */
export type PostgresTls = {
  /** The URL without the parameters of TLS, which `pg` reads differently than libpq. */
  readonly url: string;
  /** Ways to connect, the preferred way first. The next way is for a server that refuses the way before. Never empty. */
  readonly ways: readonly TlsWay[];
};

export type TlsDefaults = {
  /** Authorities in PEM that must have signed the server's certificate: from the field, and stronger than `sslrootcert`. */
  readonly ca?: string | undefined;
  /** Certificate of this client: from the field, and stronger than `sslcert` and `sslkey`. */
  readonly clientCertificate?: ClientCertificate | undefined;
  /** `sslmode` of a URL without it, as in PGSSLMODE. */
  readonly mode?: string | undefined;
  /** Reads the file of `sslrootcert`, `sslcert` or `sslkey`. */
  readonly readFile: (path: string) => string;
};

const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
/** `no-verify` is an extension of `pg`: `require` that ignores every root. */
type Mode = (typeof modes)[number] | 'no-verify';

const parameters = ['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'uselibpqcompat'] as const;

/**
 * Reads the parameters of TLS in a URL of Postgres as libpq does (https://www.postgresql.org/docs/current/libpq-ssl.html), with these
 * differences:
 *
 * - a root without `sslmode` means `verify-full`, and a root with `allow` or `prefer` means `verify-ca`: a root is named to be checked
 * - `verify-full` without a root trusts the public authorities of the runtime
 * - with a client certificate of the field, an absent `sslmode` means `require`, and every connection uses TLS
 *
 * @returns the ways to connect, or `problem`, which names the parameter and never repeats the URL
 */
export function postgresTls(uri: string, defaults: TlsDefaults): PostgresTls | { readonly problem: string } {
  // `pg` reads some URLs outside of the standard, all of them of sockets.
  if (!URL.canParse(uri)) return { url: uri, ways: [false] };
  const url = new URL(uri);
  const given = Object.fromEntries(parameters.map((name) => [name, url.searchParams.get(name) ?? undefined]));
  for (const name of parameters) url.searchParams.delete(name);
  if (isSocket(url)) return { url: url.href, ways: [false] };
  const { sslrootcert } = given;
  const isSystem = sslrootcert === 'system' && defaults.ca === undefined;
  const hasRoot = defaults.ca !== undefined || (sslrootcert !== undefined && !isSystem);
  const { clientCertificate } = defaults;
  const hasCertificate = clientCertificate !== undefined;
  const usual = hasRoot || isSystem ? 'verify-full' : hasCertificate ? 'require' : 'prefer';
  const mode = modeOf(given, defaults.mode) ?? usual;
  const negotiation = url.searchParams.get('sslnegotiation');
  const problem = problemOf(mode, { hasRoot, isSystem, hasCertificate, negotiation });
  if (problem !== undefined) return { problem };
  try {
    const read = (path: string | undefined) => (path === undefined ? undefined : defaults.readFile(path));
    const ca = defaults.ca ?? (hasRoot ? read(sslrootcert) : undefined);
    const own = hasCertificate
      ? { cert: clientCertificate.certificate, key: clientCertificate.key }
      : { cert: read(given['sslcert']), key: read(given['sslkey']) };
    const ways = waysOf(mode as Mode, ca, own);
    return { url: url.href, ways: hasCertificate ? ways.filter((way) => way !== false) : ways };
  } catch {
    return { problem: 'sslrootcert, sslcert, sslkey: expected readable files' };
  }
}

type Given = Readonly<Record<string, string | undefined>>;

function modeOf({ ssl, sslmode }: Given, fallback: string | undefined): string | undefined {
  if (sslmode !== undefined) return sslmode;
  if (ssl === undefined) return fallback;
  if (ssl === 'true' || ssl === '1') return 'verify-full';
  return ssl === 'false' || ssl === '0' ? 'disable' : ssl;
}

function problemOf(
  mode: string,
  facts: {
    readonly hasRoot: boolean;
    readonly isSystem: boolean;
    readonly hasCertificate: boolean;
    readonly negotiation: string | null;
  },
): string | undefined {
  if (mode !== 'no-verify' && !modes.some((one) => one === mode)) {
    return `sslmode: expected ${modes.join(', ')}, got something else`;
  }
  if (facts.hasCertificate && mode === 'disable') {
    return 'sslmode: expected another mode than disable, because spec.postgres.clientCertificate is given';
  }
  if (facts.isSystem && mode !== 'verify-full') return 'sslmode: expected verify-full with sslrootcert=system';
  if (mode === 'verify-ca' && !facts.hasRoot) {
    return 'sslmode: expected a root for verify-ca: spec.postgres.caBundle, --postgres-ca-file or sslrootcert';
  }
  if (facts.negotiation === 'direct' && ['disable', 'allow', 'prefer'].includes(mode)) {
    return 'sslmode: expected require, verify-ca or verify-full with sslnegotiation=direct';
  }
  return undefined;
}

function waysOf(
  mode: Mode,
  ca: string | undefined,
  { cert, key }: { readonly cert: string | undefined; readonly key: string | undefined },
): readonly TlsWay[] {
  const own = { ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
  const unchecked = { ...own, rejectUnauthorized: false };
  const root = ca === undefined ? undefined : { ...own, ca, rejectUnauthorized: true };
  const anyHost = root && { ...root, checkServerIdentity: () => undefined };
  switch (mode) {
    case 'disable':
      return [false];
    case 'allow':
      return anyHost ? [anyHost] : [false, unchecked];
    case 'prefer':
      return anyHost ? [anyHost] : [unchecked, false];
    case 'no-verify':
      return [unchecked];
    case 'require':
    case 'verify-ca':
      return [anyHost ?? unchecked];
    case 'verify-full':
    default:
      return [{ ...own, ...root, rejectUnauthorized: true, checkServerIdentity }];
  }
}

/** A socket of the file system, by `host=/folder` or an escaped host: such sockets have no TLS. */
function isSocket(url: URL): boolean {
  const host = url.searchParams.get('host') ?? url.hostname;
  return host === '' || /^(\/|%2f)/i.test(host);
}
