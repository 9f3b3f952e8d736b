/** Codes of Node for a chain of certificates that OpenSSL refuses (https://nodejs.org/api/tls.html#x509-certificate-error-codes). */
const chainCodes: ReadonlySet<string> = new Set([
  'CERT_CHAIN_TOO_LONG',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REJECTED',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
  'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const nameCodes: ReadonlySet<string> = new Set(['ERR_TLS_CERT_ALTNAME_INVALID', 'HOSTNAME_MISMATCH']);

/**
 * Reports whether a TLS client refused the certificate of its server.
 *
 * @returns `chain` for an untrusted authority or an invalid certificate, `name` for a certificate of another host. Undefined for another failure.
 */
export function untrustedCertificate(error: unknown): 'chain' | 'name' | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (nameCodes.has(code)) return 'name';
  return chainCodes.has(code) ? 'chain' : undefined;
}
