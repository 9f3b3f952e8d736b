import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';

import { caBundleProblem } from './ca-bundle.ts';

/** Certificate that a client shows to its server, both texts in PEM. */
export type ClientCertificate = {
  /** The certificate, and its intermediates after it. */
  readonly certificate: string;
  /** Private key of the first certificate; a secret, never logged. */
  readonly key: string;
};

/** Part of a client certificate with its problem. The problem repeats no text of the part. */
export type ClientCertificateProblem = { readonly part: keyof ClientCertificate; readonly problem: string };

/** Reports why two texts are no certificate with its private key; undefined when they are. */
export function clientCertificateProblem({
  certificate,
  key,
}: ClientCertificate): ClientCertificateProblem | undefined {
  const unreadable = caBundleProblem(certificate);
  if (unreadable !== undefined) return { part: 'certificate', problem: unreadable };
  const privateKey = privateKeyOf(key);
  if (privateKey === undefined) {
    return { part: 'key', problem: 'expected a private key in PEM without a passphrase, got something else' };
  }
  if (new X509Certificate(certificate).checkPrivateKey(privateKey)) return undefined;
  return { part: 'key', problem: 'expected the private key of the certificate, got the key of another' };
}

function privateKeyOf(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

/**
 * Alerts by which a server refuses a client's certificate, or the lack of one (RFC 8446, section 6.2). A signature of another authority of the
 * same name is a DECRYPT_ERROR.
 */
const refusal =
  /^ERR_SSL_.*ALERT_(?:BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_(?:REVOKED|EXPIRED|UNKNOWN|REQUIRED)|UNKNOWN_CA|ACCESS_DENIED|DECRYPT_ERROR)$/;

/** True if a server's TLS refused the certificate of this client, or the lack of one. */
export function isClientCertificateRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && refusal.test(String(error.code));
}
