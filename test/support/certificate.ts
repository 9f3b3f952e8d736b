import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** A certificate and its private key, both PEM. */
export type Certificate = { readonly certificate: string; readonly key: string };

/** Signs certificates; its own `certificate` is what clients trust. */
export type Authority = Certificate & {
  /** A certificate for a server or a client; `hosts` are DNS names and IPv4 addresses. */
  issue(subject: {
    readonly commonName: string;
    readonly organization?: string;
    readonly hosts?: readonly string[];
  }): Certificate;
};

/** Certificates of tests begin a day ago, for clocks that are behind, and outlive every run. */
const dayMs = 24 * 3600 * 1000;

/** Makes a certificate authority for tests: X.509 v3 (RFC 5280) with ECDSA over P-256, written by hand because Node has no writer. */
export function createAuthority(commonName: string): Authority {
  const own = keyPair();
  const certificate = signed({
    issuer: commonName,
    signer: own.privateKey,
    subject: commonName,
    key: own.publicKey,
    // basicConstraints: a CA; keyUsage: keyCertSign and cRLSign.
    extensions: [
      extension('2.5.29.19', sequence(element(0x01, Buffer.of(0xff)))),
      extension('2.5.29.15', bits(Buffer.of(6), 1)),
    ],
  });
  return {
    certificate,
    key: pemOf(own.privateKey),
    issue({ commonName: subject, organization, hosts = [] }) {
      const pair = keyPair();
      const issued = signed({
        issuer: commonName,
        signer: own.privateKey,
        subject,
        organization,
        key: pair.publicKey,
        extensions: [
          // extendedKeyUsage: serverAuth, clientAuth.
          extension('2.5.29.37', sequence(objectId('1.3.6.1.5.5.7.3.1'), objectId('1.3.6.1.5.5.7.3.2'))),
          ...(hosts.length === 0 ? [] : [extension('2.5.29.17', sequence(...hosts.map(alternativeName)))]),
        ],
      });
      return { certificate: issued, key: pemOf(pair.privateKey) };
    },
  };
}

/** A fresh P-256 key pair, PEM. */
export function createKeyPair(): { readonly publicKey: string; readonly privateKey: string } {
  const { publicKey, privateKey } = keyPair();
  return { publicKey: publicKey.export({ type: 'spki', format: 'pem' }), privateKey: pemOf(privateKey) };
}

function keyPair(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' });
}

function signed(parts: {
  readonly issuer: string;
  readonly signer: KeyObject;
  readonly subject: string;
  readonly organization?: string | undefined;
  readonly key: KeyObject;
  readonly extensions: readonly Buffer[];
}): string {
  const ecdsaWithSha256 = sequence(objectId('1.2.840.10045.4.3.2'));
  // The first byte keeps the number positive and its length fixed.
  const serial = Buffer.concat([Buffer.of(1), randomBytes(15)]);
  const toBeSigned = sequence(
    element(0xa0, element(0x02, Buffer.of(2))),
    element(0x02, serial),
    ecdsaWithSha256,
    name(parts.issuer),
    sequence(time(Date.now() - dayMs), time(Date.now() + 30 * dayMs)),
    name(parts.subject, parts.organization),
    parts.key.export({ type: 'spki', format: 'der' }),
    element(0xa3, sequence(...parts.extensions)),
  );
  const signature = sign('sha256', toBeSigned, parts.signer);
  const base64 = sequence(toBeSigned, ecdsaWithSha256, bits(signature, 0)).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/(.{64})/g, '$1\n').trimEnd()}\n-----END CERTIFICATE-----\n`;
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(objectId(id), element(0x04, value));
}

function alternativeName(host: string): Buffer {
  return isIPv4(host) ? element(0x87, Buffer.from(host.split('.').map(Number))) : element(0x82, Buffer.from(host));
}

function name(commonName: string, organization?: string): Buffer {
  const part = (id: string, value: string): Buffer =>
    element(0x31, sequence(objectId(id), element(0x0c, Buffer.from(value))));
  return sequence(...(organization === undefined ? [] : [part('2.5.4.10', organization)]), part('2.5.4.3', commonName));
}

/** UTCTime, right for the years up to 2049. */
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/\D/g, '').slice(2, 14);
  return element(0x17, Buffer.from(`${digits}Z`));
}

function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
  return digits;
}

function bits(bytes: Buffer, unused: number): Buffer {
  return element(0x03, Buffer.concat([Buffer.of(unused), bytes]));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return element(0x30, Buffer.concat(parts));
}

/** DER: tag, length, content. */
function element(tag: number, content: Buffer): Buffer {
  const length = content.length;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  if (length < 0x100) return Buffer.concat([Buffer.of(tag, 0x81, length), content]);
  return Buffer.concat([Buffer.of(tag, 0x82, length >> 8, length & 0xff), content]);
}
