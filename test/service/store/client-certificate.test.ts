import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import type { ClientCertificate } from '#service/tls/client-certificate.ts';
import { createAuthority } from '#test/support/certificate.ts';
import type { PostgresServer } from '#test/support/postgres-server.ts';
import { openStore } from '#test/support/store.ts';
import { startTlsPostgres } from '#test/support/tls-postgres.ts';

const authority = createAuthority('Authority of Postgres');
const clients = createAuthority('Authority of clients');
const namesake = createAuthority('Authority of clients');
const stranger = createAuthority('Another authority');
const user = clients.issue({ commonName: 'postgres' });
const renewed = clients.issue({ commonName: 'postgres' });
const ca = authority.certificate;
let server: PostgresServer;
let url: string;

beforeAll(async () => {
  const certificate = authority.issue({ commonName: 'server', hosts: ['127.0.0.1'] });
  server = await startTlsPostgres(certificate, clients.certificate);
  // The certificate is the login. A password is neither needed nor asked for.
  url = Object.assign(new URL(server.url), { password: '' }).href;
});
afterAll(() => server.close());

const serialNumber = 'SELECT client_serial::text AS serial FROM pg_stat_ssl WHERE pid = pg_backend_pid()';

/** Returns the serial number of the client certificate that Postgres saw. */
async function serialSeen(to: { url: string; readUrl?: string; clientCertificate?: ClientCertificate | undefined }) {
  const store = openStore({ ...to, ca });
  try {
    const [row] = await store.read<{ serial: string }>(serialNumber);
    return row?.serial;
  } finally {
    await store.close();
  }
}

const field = /^spec\.postgres\.clientCertificate \(--postgres-client-certificate-file\): expected a certificate/;

describe('a Postgres that lets clients with a certificate in', () => {
  it.each(['', '?sslmode=require', '?sslmode=prefer', '?sslmode=verify-full'])(
    'is read with the certificate of the user and "%s"',
    async (query) => {
      expect(await serialSeen({ url: `${url}${query}`, clientCertificate: user })).toMatch(/^\d+$/);
    },
  );

  it('is read at its replica with the same certificate', async () => {
    const away = 'postgres://postgres@127.0.0.1:1/postgres';
    expect(await serialSeen({ url: away, readUrl: url, clientCertificate: user })).toMatch(/^\d+$/);
  });

  it.each([
    ['no certificate', undefined, '28000'],
    ['the certificate of another user', clients.issue({ commonName: 'other' }), '28000'],
  ])('refuses %s, and the error names the field', async (_what, clientCertificate, cause) => {
    await expect(serialSeen({ url, clientCertificate })).rejects.toMatchObject({
      code: 'store_refused',
      message: expect.stringMatching(field) as string,
      data: { cause },
    });
  });

  it.each([
    ['another authority', stranger],
    ['an authority of the same name', namesake],
  ])('refuses a certificate of %s, and the error names the field', async (_what, issuer) => {
    const clientCertificate = issuer.issue({ commonName: 'postgres' });
    // A connection that Postgres closes first may lose the alert, so the test connects until it sees the alert.
    await vi.waitFor(
      () =>
        expect(serialSeen({ url, clientCertificate })).rejects.toMatchObject({
          code: 'store_unavailable',
          message: expect.stringMatching(field) as string,
        }),
      { timeout: 60_000, interval: 50 },
    );
  });

  it('sees a renewed certificate while the process runs', async () => {
    const store = openStore({ url, ca, clientCertificate: user });
    const [before] = await store.read<{ serial: string }>(serialNumber);
    store.setUrls({ url, ca, clientCertificate: renewed });
    const [after] = await store.read<{ serial: string }>(serialNumber);
    expect(after?.serial).toMatch(/^\d+$/);
    expect(after?.serial).not.toBe(before?.serial);
    const alone = await store.connect();
    expect((await alone.query(serialNumber)).rows).toEqual([after]);
    await alone.end();
    await store.close();
  });
});
