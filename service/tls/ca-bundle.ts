import { X509Certificate } from 'node:crypto';

/** Bundles of public clouds have some 100 certificates in 200 KiB; an object of Kubernetes holds at most 1 MiB. */
const BUNDLE_BYTES_MAX = 1024 * 1024;

const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Reports why a text is no bundle of certificates in PEM; undefined when it is a bundle. The text is not repeated. */
export function caBundleProblem(text: string): string | undefined {
  if (Buffer.byteLength(text) > BUNDLE_BYTES_MAX)
    return `expected at most ${BUNDLE_BYTES_MAX} bytes of PEM certificates`;
  const found = text.match(certificate) ?? [];
  if (found.length === 0) return 'expected certificates in PEM (-----BEGIN CERTIFICATE-----), got none';
  const at = found.findIndex((one) => !isCertificate(one));
  return at === -1 ? undefined : `expected certificates in PEM, got an unreadable one at position ${at + 1}`;
}

function isCertificate(pem: string): boolean {
  try {
    // The constructor reads the certificate, and throws where it cannot.
    return new X509Certificate(pem) instanceof X509Certificate;
  } catch {
    return false;
  }
}
