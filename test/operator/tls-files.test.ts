import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createHttpPages } from '#operator/http-pages.ts';
import { createTlsFiles } from '#operator/tls-files.ts';
import { createAuthority, type Certificate } from '#test/support/certificate.ts';
import { createVirtualClock } from '#test/support/virtual-clock.ts';

const authority = createAuthority('metrics');
const issue = (): Certificate => authority.issue({ commonName: 'operator', hosts: ['127.0.0.1'] });

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'tonplane-tls-'))));
afterEach(() => rmSync(folder, { recursive: true }));

/** As a kubelet does: whole files, one after the other. */
function put(name: string, text: string): void {
  writeFileSync(join(folder, 'new'), text);
  renameSync(join(folder, 'new'), join(folder, name));
}
function putPair({ certificate, key }: Certificate): void {
  put('tls.crt', certificate);
  put('tls.key', key);
}

/** Serial number of the certificate that a listener shows, checked against the authority. */
function serialAt(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ca: authority.certificate }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

describe('pages over TLS', () => {
  it('are answered with the certificate of the folder, and with a renewed one later', async () => {
    putPair(issue());
    const clock = createVirtualClock();
    const failures: unknown[] = [];
    const tls = createTlsFiles(folder, { clock, onFailure: (error) => failures.push(error) });
    const page = { status: 200, contentType: 'text/plain', body: 'up 1' };
    const pages = createHttpPages({ host: '127.0.0.1', port: 0, tls }, { pages: { '/metrics': () => page } });
    const port = await pages.listen();
    try {
      const first = await serialAt(port);
      await clock.advance(60_000);
      expect(await serialAt(port)).toBe(first);
      const renewed = issue();
      // Half of a renewal is none.
      put('tls.crt', renewed.certificate);
      await clock.advance(30_000);
      expect([await serialAt(port), failures.length]).toEqual([first, 1]);
      put('tls.key', renewed.key);
      await clock.advance(30_000);
      expect(await serialAt(port)).not.toBe(first);
      rmSync(join(folder, 'tls.key'));
      await clock.advance(30_000);
      expect(failures).toHaveLength(2);
      await expect(fetch(`http://127.0.0.1:${port}/metrics`)).rejects.toThrow('fetch failed');
    } finally {
      await pages.close();
    }
  });

  it('need a certificate to begin with', () => {
    const dependencies = { clock: createVirtualClock(), onFailure: () => {} };
    expect(() => createTlsFiles(folder, dependencies)).toThrow('tls.crt');
    putPair({ ...issue(), key: issue().key });
    expect(() => createTlsFiles(folder, dependencies)).toThrow('key values mismatch');
  });
});
