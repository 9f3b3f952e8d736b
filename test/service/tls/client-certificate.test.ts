import { generateKeyPairSync } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { clientCertificateProblem, isClientCertificateRefused } from '#service/tls/client-certificate.ts';
import { createAuthority } from '#test/support/certificate.ts';

const authority = createAuthority('Private authority');
const { certificate, key } = authority.issue({ commonName: 'ton' });
const other = authority.issue({ commonName: 'other' });
const locked = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
  cipher: 'aes-256-cbc',
  passphrase: 'secret',
});

describe('a client certificate', () => {
  it('is accepted with its own key, alone and with its authority after it', () => {
    expect(clientCertificateProblem({ certificate, key })).toBeUndefined();
    expect(clientCertificateProblem({ certificate: certificate + authority.certificate, key })).toBeUndefined();
  });

  it.each([
    ['a certificate that is none', { certificate: key, key }, 'certificate', 'expected certificates in PEM'],
    ['no key', { certificate, key: '' }, 'key', 'expected a private key in PEM'],
    ['a certificate in place of the key', { certificate, key: certificate }, 'key', 'expected a private key in PEM'],
    ['a key with a passphrase', { certificate, key: locked }, 'key', 'without a passphrase'],
    ['the key of another', { certificate, key: other.key }, 'key', 'expected the private key of the certificate'],
    [
      'the key of the second certificate',
      { certificate: certificate + other.certificate, key: other.key },
      'key',
      'expected the private key of the certificate',
    ],
  ])('is refused with %s, without a repetition of the key', (_what, given, part, problem) => {
    const found = clientCertificateProblem(given);
    expect(found).toMatchObject({ part, problem: expect.stringContaining(problem) as string });
    expect(found?.problem).not.toContain('-----BEGIN PRIVATE KEY');
  });
});

describe('an alert of a server', () => {
  it.each([
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', true],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', true],
    ['ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED', true],
    ['ERR_SSL_TLSV1_ALERT_DECRYPT_ERROR', true],
    ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', false],
    ['ERR_SSL_WRONG_VERSION_NUMBER', false],
    ['ECONNRESET', false],
  ])('with %s concerns the certificate of the client: %s', (code, concerns) => {
    expect(isClientCertificateRefused(Object.assign(new Error('alert'), { code }))).toBe(concerns);
  });
});
