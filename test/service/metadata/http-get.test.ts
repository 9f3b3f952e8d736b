import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

import { afterEach, describe, expect, it, vi } from 'vitest';

import { httpGet, type HttpGetOptions } from '#service/metadata/http-get.ts';
import { locate } from '#service/metadata/location.ts';
import { createAuthority } from '#test/support/certificate.ts';
import { codeOf } from './codes.ts';
import { privateAddress, publicAddress, startTokenHost } from './token-host.ts';

let open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(open.map((one) => one.close()));
  open = [];
});

const never = new AbortController().signal;

async function hostOf(...certificate: [] | [Parameters<typeof startTokenHost>[1]]) {
  const host = await startTokenHost((_, response) => void response.end('{}'), ...certificate);
  open.push(host);
  return host;
}

async function bytesFrom(url: string, addresses: readonly string[], options: Partial<HttpGetOptions> = {}) {
  const location = locate(url, { ipfsGateway: new URL(url).origin, ports: new Set() });
  const answer = await httpGet(location, addresses, { userAgent: 'test', ...options }, never);
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  } finally {
    answer.destroy();
  }
}

describe('a request for metadata', () => {
  it('goes to the given address and resolves no name', async () => {
    const host = await hostOf();
    expect(await bytesFrom(`http://localhost:${host.port}/`, [privateAddress])).toBe('{}');
    expect(host.connections).toEqual([privateAddress]);
  });

  it('goes to the next address if one refuses the connection', async () => {
    const host = await hostOf();
    // The host listens on addresses of IPv4 alone.
    expect(await bytesFrom(`http://tokens.example:${host.port}/`, ['::1', publicAddress])).toBe('{}');
    expect(host.connections).toEqual([publicAddress]);
  });

  it('tries at most four addresses', async () => {
    const host = await hostOf();
    const addresses = ['::1', '::1', '::1', '::1', publicAddress];
    expect(await codeOf(() => bytesFrom(`http://tokens.example:${host.port}/`, addresses))).toBe('unreachable');
    expect(host.connections).toEqual([]);
  });

  it('uses no proxy of the environment', async () => {
    const [host, proxy] = [await hostOf(), await hostOf()];
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']) {
      vi.stubEnv(name, name === 'NODE_USE_ENV_PROXY' ? '1' : `http://127.0.0.1:${proxy.port}`);
    }
    expect(await bytesFrom(`http://tokens.example:${host.port}/`, [publicAddress])).toBe('{}');
    expect([host.connections.length, proxy.connections.length]).toEqual([1, 0]);
  });

  it('has the server name of TLS without the dot of a root, and none for an address', async () => {
    const authority = createAuthority('Test');
    const host = await hostOf(authority.issue({ commonName: 'tokens', hosts: ['tokens.example', publicAddress] }));
    const options = { certificateAuthority: authority.certificate };
    expect(await bytesFrom(`https://tokens.example.:${host.port}/`, [publicAddress], options)).toBe('{}');
    expect(await bytesFrom(`https://${publicAddress}:${host.port}/`, [publicAddress], options)).toBe('{}');
    expect(host.seen.map(({ serverName }) => serverName)).toEqual(['tokens.example', undefined]);
  });

  it('reads one answer from a connection, and then ends it', async () => {
    const host = await hostOf();
    const url = `http://tokens.example:${host.port}/`;
    await bytesFrom(url, [publicAddress]);
    await bytesFrom(url, [publicAddress]);
    expect(host.connections).toHaveLength(2);
    expect(host.seen.map(({ headers }) => headers.connection)).toEqual(['close', 'close']);
  });

  it('ends its connection when its caller aborts in the handshake of TLS', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket.resume())).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    open.push({ close: async () => void silent.close() });
    const { port } = silent.address() as AddressInfo;
    const stop = new AbortController();
    const location = locate(`https://tokens.example:${port}/`, { ipfsGateway: null, ports: new Set([port]) });
    const asked = httpGet(location, [publicAddress], { userAgent: 'test' }, stop.signal);
    await expect.poll(() => sockets.length).toBe(1);
    stop.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
    await expect.poll(() => sockets[0]?.destroyed).toBe(true);
  });
});
