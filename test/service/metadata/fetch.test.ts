import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

import { afterEach, describe, expect, it } from 'vitest';

import type { FetcherOptions } from '#service/metadata/fetch.ts';
import { resolveByDns } from '#service/metadata/resolve.ts';
import { createAuthority } from '#test/support/certificate.ts';
import { codeOf } from './codes.ts';
import { startNameServer } from './name-server.ts';
import { fetcherTo, privateAddress, publicAddress, startTokenHost, type TokenHost } from './token-host.ts';

const never = new AbortController().signal;
const mebibyte = 1_048_576;

let open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.map((one) => one.close()));
  open = [];
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function hostThat(answer: Answer, certificate?: Parameters<typeof startTokenHost>[1]): Promise<TokenHost> {
  const host = await startTokenHost(answer, certificate);
  open.push(host);
  return host;
}

const saying =
  (body: string | Buffer, headers: Record<string, string> = {}, status = 200): Answer =>
  (_, response) =>
    void response.writeHead(status, headers).end(body);

const token = JSON.stringify({ name: 'Token', decimals: '9' });

async function fetchFrom(host: TokenHost, path = '/', options: Partial<FetcherOptions> = {}) {
  return fetcherTo(host, options).fetch(`http://tokens.example:${host.port}${path}`, never);
}

describe('what a token keeps outside of the chain', () => {
  it('a page is fetched from the checked address, by the name of its host, and the request does not identify this service', async () => {
    const host = await hostThat(saying(token));
    expect(await fetchFrom(host, '/a/1.json?x=1')).toEqual({ name: 'Token', decimals: '9' });
    const [seen] = host.seen;
    expect(seen).toMatchObject({ address: publicAddress, host: `tokens.example:${host.port}`, path: '/a/1.json?x=1' });
    expect(Object.keys(seen?.headers ?? {}).toSorted()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ]);
  });

  it('a page is fetched by TLS under the name of its host, whatever the address', async () => {
    const authority = createAuthority('Test');
    const certificate = authority.issue({ commonName: 'tokens', hosts: ['tokens.example'] });
    const host = await hostThat(saying(token), certificate);
    const fetcher = fetcherTo(host, { certificateAuthority: authority.certificate });
    expect(await fetcher.fetch(`https://tokens.example:${host.port}/`, never)).toMatchObject({ name: 'Token' });
    expect(host.seen).toMatchObject([{ serverName: 'tokens.example', host: `tokens.example:${host.port}` }]);
    expect(await codeOf(() => fetcher.fetch(`https://other.example:${host.port}/`, never))).toBe('unreachable');
    expect(await codeOf(() => fetcherTo(host).fetch(`https://tokens.example:${host.port}/`, never))).toBe(
      'unreachable',
    );
    expect(host.seen).toHaveLength(1);
  });

  it('a page is fetched from a gateway of a private authority, which no other host may use', async () => {
    const authority = createAuthority('Test');
    const certificate = authority.issue({ commonName: 'gateway', hosts: ['tokens.example', 'other.example'] });
    const host = await hostThat(saying(token), certificate);
    let ca: string | undefined;
    const ipfsGateway = `https://tokens.example:${host.port}`;
    const fetcher = fetcherTo(host, { ipfsGateway, gatewayAuthorities: () => ca });
    const url = `${ipfsGateway}/ipfs/a.json`;
    expect(await codeOf(() => fetcher.fetch(url, never))).toBe('unreachable');
    ca = authority.certificate;
    expect(await fetcher.fetch(url, never)).toMatchObject({ name: 'Token' });
    expect(await codeOf(() => fetcher.fetch(`https://other.example:${host.port}/`, never))).toBe('unreachable');
  });

  it.each<[string, (text: string) => Buffer]>([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['identity', (text) => Buffer.from(text)],
  ])('a page may be compressed as %s', async (encoding, compress) => {
    const host = await hostThat(saying(compress(token), { 'content-encoding': encoding }));
    expect(await fetchFrom(host)).toMatchObject({ name: 'Token' });
  });

  it('a page may begin with a byte order mark and be of type plain text', async () => {
    const host = await hostThat(saying(`\uFEFF${token}`, { 'content-type': 'text/plain' }));
    expect(await fetchFrom(host)).toMatchObject({ name: 'Token' });
  });

  it('a page is found behind three redirects, and not behind four', async () => {
    const host = await hostThat(({ url = '' }, response) => {
      const left = Number(url.slice(1));
      if (left === 0) response.end(token);
      else response.writeHead([301, 302, 303, 307, 308][left] ?? 302, { location: `/${left - 1}` }).end('elsewhere');
    });
    expect(await fetchFrom(host, '/3')).toMatchObject({ name: 'Token' });
    expect(await codeOf(() => fetchFrom(host, '/4'))).toBe('too_many_redirects');
    expect(host.seen.map(({ path }) => path)).toEqual(['/3', '/2', '/1', '/0', '/4', '/3', '/2', '/1']);
  });

  it('a redirect to itself is not followed', async () => {
    const host = await hostThat(saying('', { location: '/' }, 302));
    expect(await codeOf(() => fetchFrom(host))).toBe('too_many_redirects');
    expect(host.seen).toHaveLength(4);
  });

  it('content in IPFS is requested from the gateway, whatever its port', async () => {
    const host = await hostThat(saying(token));
    const cid = `Qm${'a'.repeat(44)}`;
    const options = { ipfsGateway: `http://tokens.example:${host.port}/base`, ports: new Set([80, 443]) };
    expect(await fetcherTo(host, options).fetch(`ipfs://${cid}/1.json`, never)).toMatchObject({ name: 'Token' });
    expect(host.seen.map(({ path }) => path)).toEqual([`/base/ipfs/${cid}/1.json`]);
  });

  it.each([
    ['ipfs://CID/1.png', 'https://gateway.example', 'https://gateway.example/ipfs/CID/1.png'],
    [' IPFS://CID/1.png', 'https://gateway.example:8443/a', 'https://gateway.example:8443/a/ipfs/CID/1.png'],
    ['ipfs://CID/1.png', null, undefined],
    ['ipfs://CID/1.png', 'https://user:word@gateway.example', undefined],
    ['ipfs://CID/1.png', 'http://10.0.0.1', undefined],
    ['ipfs://CID/../../1.png', 'https://gateway.example', undefined],
    ['https://a.example/1.png', 'https://gateway.example', undefined],
  ])('the link that callers get to %s at %s is %s', (uri, ipfsGateway, url) => {
    const cid = `Qm${'a'.repeat(44)}`;
    const link = fetcherTo({ port: 80 }, { ipfsGateway }).ipfsUrlOf(uri.replace('CID', cid));
    expect(link).toBe(url?.replace('CID', cid));
  });
});

describe('private addresses', () => {
  it.each([
    ['its number', privateAddress],
    ['another spelling of it', '0x7f.0.2'],
    ['it as one number', String(0x7f000002)],
    ['it within IPv6', `[::ffff:${privateAddress}]`],
    ['loopback of IPv6', '[::1]'],
    ['a name for it', 'inside.example'],
    ['a name for it and for one outside', 'mixed.example'],
    ['a name for a metadata service', 'metadata.example'],
  ])('a private address is not requested for a token that has %s, nor for a redirect to it', async (_, inside) => {
    const host = await hostThat(({ headers }, response) => {
      // A request under another name than the first would reach the private page.
      const isOutside = headers.host?.startsWith('tokens.example') === true;
      if (isOutside) response.writeHead(302, { location: `http://${inside}:${host.port}/secret` }).end();
      else response.end(token);
    });
    const fetcher = fetcherTo(host);
    expect(await codeOf(() => fetcher.fetch(`http://${inside}:${host.port}/secret`, never))).toBe('address_refused');
    expect(host.connections).toEqual([]);
    expect(await codeOf(() => fetchFrom(host))).toBe('address_refused');
    expect(host.connections).toEqual([publicAddress]);
  });

  it('a private gateway is not requested', async () => {
    const host = await hostThat(saying(token));
    const fetcher = fetcherTo(host, { ipfsGateway: `http://inside.example:${host.port}` });
    expect(await codeOf(() => fetcher.fetch(`ipfs://Qm${'a'.repeat(44)}`, never))).toBe('address_refused');
    expect(host.connections).toEqual([]);
  });

  it.each([
    'file:///etc/passwd',
    'ftp://tokens.example/',
    'http://user:secret@tokens.example/',
    'http://tokens.example:22/',
    'javascript:1',
  ])('a redirect to %s is not followed', async (location) => {
    const host = await hostThat(saying('', { location }, 302));
    expect(await codeOf(() => fetchFrom(host))).toBe('uri_unusable');
    expect(host.seen).toHaveLength(1);
  });

  it('the first address from DNS is checked and used, even if DNS names another one a moment later', async () => {
    let questions = 0;
    const names = await startNameServer(() => (questions++ === 0 ? [publicAddress] : [privateAddress]));
    open.push(names);
    const host = await hostThat(saying(token));
    const fetcher = fetcherTo(host, {}, resolveByDns({ servers: [names.at] }));
    const uri = `http://rebinding.example:${host.port}/`;
    expect(await fetcher.fetch(uri, never)).toMatchObject({ name: 'Token' });
    expect(names.asked).toEqual(['rebinding.example', 'rebinding.example']);
    expect(await codeOf(() => fetcher.fetch(uri, never))).toBe('address_refused');
    expect(host.connections).toEqual([publicAddress]);
  });

  it('a redirect back to the same name, which now has another address, is not followed to a private address', async () => {
    let questions = 0;
    const names = await startNameServer(() => (questions++ === 0 ? [publicAddress] : [privateAddress]));
    open.push(names);
    const host = await hostThat(saying('', { location: '/again' }, 302));
    const fetcher = fetcherTo(host, {}, resolveByDns({ servers: [names.at] }));
    expect(await codeOf(() => fetcher.fetch(`http://rebinding.example:${host.port}/`, never))).toBe('address_refused');
    expect(host.connections).toEqual([publicAddress]);
  });
});

describe('names', () => {
  it('names are resolved by DNS alone, not by the hosts file', async () => {
    const names = await startNameServer(() => ['192.0.2.1', '192.0.2.2']);
    open.push(names);
    const resolve = resolveByDns({ servers: [names.at] });
    expect(await resolve('localhost', never)).toEqual(['192.0.2.1', '192.0.2.2']);
  });

  it('an unknown name is reported as unknown', async () => {
    const names = await startNameServer(() => []);
    open.push(names);
    const host = await hostThat(saying(token));
    const fetcher = fetcherTo(host, {}, resolveByDns({ servers: [names.at] }));
    expect(await codeOf(() => fetcher.fetch(`http://unknown.example:${host.port}/`, never))).toBe('host_unknown');
  });

  it('a name that no server answers for costs at most the time of a fetch', async () => {
    const names = await startNameServer(() => 'silent');
    open.push(names);
    const fetcher = fetcherTo({ port: 80 }, { timeoutMs: 200 }, resolveByDns({ servers: [names.at] }));
    expect(await codeOf(() => fetcher.fetch('http://silent.example/', never))).toBe('too_slow');
  });
});

describe('a page is given up', () => {
  it.each<[string, string, Answer]>([
    ['is no JSON', 'not_json', saying('<html>')],
    ['is nothing', 'not_json', saying('')],
    ['is a list', 'not_json', saying('[]')],
    ['is null', 'not_json', saying('null')],
    ['is a text', 'not_json', saying('"text"')],
    ['breaks off', 'not_json', saying('{"name":')],
    ['is compressed in a way of its own', 'not_json', saying(token, { 'content-encoding': 'zstd-own' })],
    ['names a method of objects as its encoding', 'not_json', saying(token, { 'content-encoding': 'constructor' })],
    ['says it is compressed and is not', 'not_json', saying(token, { 'content-encoding': 'gzip' })],
    [
      'is compressed and breaks off',
      'not_json',
      saying(gzipSync(token).subarray(0, -9), { 'content-encoding': 'gzip' }),
    ],
    ['is no Brotli', 'not_json', saying(token, { 'content-encoding': 'br' })],
    ['is not there', 'bad_status', saying(token, {}, 404)],
    ['is broken', 'bad_status', saying(token, {}, 500)],
    ['leads nowhere', 'bad_status', saying(token, {}, 302)],
    ['is not changed', 'bad_status', saying('', {}, 304)],
    ['is too deep', 'too_complex', saying(`{"a":${'['.repeat(40)}${']'.repeat(40)}}`)],
    ['is too deep without an end', 'too_complex', saying('['.repeat(mebibyte))],
    ['has too many values', 'too_complex', saying(`{"a":[${'0,'.repeat(30_000)}0]}`)],
    ['has too many empty objects', 'too_complex', saying(`{"a":[${'{},'.repeat(15_000)}{}]}`)],
    ['is too large', 'too_large', saying(`{"a":"${'a'.repeat(11 * mebibyte)}"}`)],
    [
      'is too large once decompressed',
      'too_large',
      saying(gzipSync(`{"a":"${'a'.repeat(64 * mebibyte)}"}`), { 'content-encoding': 'gzip' }),
    ],
    ['has headers without end', 'unreachable', saying(token, { 'x-long': 'a'.repeat(100_000) })],
    ['closes the connection', 'unreachable', ({ socket }) => void socket.destroy()],
  ])('a page is given up that %s', async (_, code, answer) => {
    const host = await hostThat(answer);
    expect(await codeOf(() => fetchFrom(host))).toBe(code);
  });

  it('a page whose body exceeds the bound is given up without reading on', async () => {
    let sent = 0;
    const host = await hostThat((_, response) => {
      response.writeHead(200);
      response.write('{"a":"');
      const more = (): void => {
        while (!response.destroyed && sent < 200 * mebibyte) {
          sent += 65_536;
          if (!response.write('a'.repeat(65_536))) return;
        }
      };
      response.on('drain', more);
      more();
    });
    expect(await codeOf(() => fetchFrom(host))).toBe('too_large');
    expect(sent).toBeLessThan(30 * mebibyte);
  });

  it.each<[string, Answer]>([
    ['never begins', () => {}],
    [
      'sends a header now and then',
      async ({ socket }) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        while (!socket.destroyed) {
          socket.write('x-slow: 1\r\n');
          await sleep(20);
        }
      },
    ],
    [
      'sends a byte now and then',
      async (_, response) => {
        response.writeHead(200);
        while (!response.destroyed) {
          response.write(' ');
          await sleep(20);
        }
      },
    ],
    [
      'says that it goes on now and then',
      async ({ socket }) => {
        while (!socket.destroyed) {
          socket.write('HTTP/1.1 102 Processing\r\n\r\n');
          await sleep(20);
        }
      },
    ],
  ])('a page is given up that %s, after the time of a fetch, and its connection with it', async (_, answer) => {
    const ended: Promise<unknown>[] = [];
    const host = await hostThat((request, response) => {
      ended.push(new Promise((resolve) => void request.socket.once('close', resolve)));
      answer(request, response);
    });
    expect(await codeOf(() => fetchFrom(host, '/', { timeoutMs: 1000 }))).toBe('too_slow');
    expect(ended).toHaveLength(1);
    await Promise.all(ended);
  });

  it('a page behind slow redirects is given up', async () => {
    const host = await hostThat(async (_, response) => {
      await sleep(150);
      response.writeHead(302, { location: '/' }).end();
    });
    expect(await codeOf(() => fetchFrom(host, '/', { timeoutMs: 300 }))).toBe('too_slow');
  });

  it('a page is given up when its caller aborts', async () => {
    const host = await hostThat(() => {});
    const stop = new AbortController();
    const fetching = fetcherTo(host).fetch(`http://tokens.example:${host.port}/`, stop.signal);
    await expect.poll(() => host.seen.length).toBe(1);
    stop.abort(new Error('enough'));
    await expect(fetching).rejects.toThrow('enough');
  });
});

describe('requests in progress', () => {
  it('requests in flight are bounded, in all and to one host', async () => {
    const waiting: (() => void)[] = [];
    const host = await hostThat((_, response) => void waiting.push(() => void response.end(token)));
    const fetcher = fetcherTo(host, { concurrency: 3, concurrencyPerHost: 2 });
    const fetches = ['tokens', 'tokens', 'tokens', 'other', 'other'].map((name) =>
      fetcher.fetch(`http://${name}.example:${host.port}/`, never),
    );
    const namesSeen = () =>
      host.seen.map(({ host: name }) => name?.split('.')[0] ?? '').toSorted((a, b) => a.localeCompare(b));
    await expect.poll(namesSeen).toEqual(['other', 'tokens', 'tokens']);
    // Time in which one request too many would arrive.
    await sleep(50);
    expect(namesSeen()).toHaveLength(3);
    while (waiting.length > 0) {
      waiting.shift()?.();
      await sleep(20);
      expect(waiting.length).toBeLessThanOrEqual(3);
    }
    expect(await Promise.all(fetches)).toHaveLength(5);
  });

  it('requests that wait for a slot are not late yet, and an aborted request leaves the queue', async () => {
    const host = await hostThat(async (_, response) => {
      await sleep(700);
      response.end(token);
    });
    const fetcher = fetcherTo(host, { concurrency: 1, timeoutMs: 2000 });
    const uri = `http://tokens.example:${host.port}/`;
    const stop = new AbortController();
    const given = fetcher.fetch(uri, stop.signal);
    const all = [fetcher.fetch(uri, never), fetcher.fetch(uri, never), fetcher.fetch(uri, never)];
    const left = fetcher.fetch(uri, stop.signal);
    stop.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    await expect(left).rejects.toThrow('enough');
    expect(await Promise.all(all)).toHaveLength(3);
  });

  it('large bodies are read two at a time, next to any number of small ones', async () => {
    const host = await hostThat(({ url }, response) => {
      response.write('{"name":"Token","a":"');
      if (url === '/large') response.write('a'.repeat(mebibyte));
      else response.end('"}');
    });
    const stop = new AbortController();
    const fetcher = fetcherTo(host, { concurrency: 8, concurrencyPerHost: 8 });
    const at = (path: string, signal: AbortSignal) =>
      fetcher.fetch(`http://tokens.example:${host.port}${path}`, signal);
    const large = ['/large', '/large', '/large'].map((path) => at(path, stop.signal));
    await expect.poll(() => host.seen.length).toBe(3);
    expect(await at('/small', never)).toMatchObject({ name: 'Token' });
    stop.abort(new Error('enough'));
    expect(await Promise.allSettled(large)).toMatchObject(large.map(() => ({ status: 'rejected' })));
  });
});
