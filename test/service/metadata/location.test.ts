import { array, assert, constantFrom, property } from 'fast-check';
import { describe, expect, it } from 'vitest';

import { MetadataError } from '#service/metadata/errors.ts';
import { locate, webPorts } from '#service/metadata/location.ts';
import { codeOf } from './codes.ts';

const cid = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG';
const gateway = 'https://gateway.example:8443/base';

const where = (uri: string, ipfsGateway: string | null = gateway, base?: string) => {
  const { url, host, port } = locate(
    uri,
    { ipfsGateway, ports: webPorts },
    base === undefined ? undefined : new URL(base),
  );
  return { url: url.href, host, port };
};

describe('a URI of a token', () => {
  it.each<[string, string, string, number]>([
    ['https://a.example/1.json', 'https://a.example/1.json', 'a.example', 443],
    [' http://a.example ', 'http://a.example/', 'a.example', 80],
    ['http://a.example:443/x', 'http://a.example:443/x', 'a.example', 443],
    ['https://a.example/x?y=1#part', 'https://a.example/x?y=1', 'a.example', 443],
    ['https://münchen.example/ä', 'https://xn--mnchen-3ya.example/%C3%A4', 'xn--mnchen-3ya.example', 443],
    ['http://0x7f.1/', 'http://127.0.0.1/', '127.0.0.1', 80],
    ['http://2130706433/', 'http://127.0.0.1/', '127.0.0.1', 80],
    ['http://[::FFFF:127.0.0.1]/', 'http://[::ffff:7f00:1]/', '::ffff:7f00:1', 80],
    ['https://gateway.example:8443/base/other', 'https://gateway.example:8443/base/other', 'gateway.example', 8443],
    [`ipfs://${cid}`, `${gateway}/ipfs/${cid}`, 'gateway.example', 8443],
    [`ipfs://${cid}/1.json`, `${gateway}/ipfs/${cid}/1.json`, 'gateway.example', 8443],
    [`ipfs://${cid}/a b/%20.json#x`, `${gateway}/ipfs/${cid}/a%20b/%20.json`, 'gateway.example', 8443],
    [`ipfs://ipfs/${cid}/1.json`, `${gateway}/ipfs/${cid}/1.json`, 'gateway.example', 8443],
    [`IPFS://${cid}`, `${gateway}/ipfs/${cid}`, 'gateway.example', 8443],
    [`ipfs://ipfs/ipfs/${cid}/1.json`, `${gateway}/ipfs/${cid}/1.json`, 'gateway.example', 8443],
    [`ipfs:///IPFS//${cid}//a///1.json`, `${gateway}/ipfs/${cid}/a/1.json`, 'gateway.example', 8443],
    [`ipfs://${cid}/a/../b/./1.json`, `${gateway}/ipfs/${cid}/b/1.json`, 'gateway.example', 8443],
    [`ipfs://${cid}/a/%2E%2e/b/%2e/1.json`, `${gateway}/ipfs/${cid}/b/1.json`, 'gateway.example', 8443],
    [`ipfs://${cid}/a/%252e%25252E/1.json`, `${gateway}/ipfs/${cid}/1.json`, 'gateway.example', 8443],
    [`ipfs://${cid}/a\\..\\1.json`, `${gateway}/ipfs/${cid}/1.json`, 'gateway.example', 8443],
    [`ipfs://${cid}/a/`, `${gateway}/ipfs/${cid}/a/`, 'gateway.example', 8443],
    [`ipfs://${cid}/1.json?x=/../../y#z`, `${gateway}/ipfs/${cid}/1.json`, 'gateway.example', 8443],
    [`ipfs://${cid}/..1/1..json/100%/%FF`, `${gateway}/ipfs/${cid}/..1/1..json/100%/%FF`, 'gateway.example', 8443],
  ])('the URI %s is requested as %s', (uri, url, host, port) => {
    expect(where(uri)).toEqual({ url, host, port });
  });

  it('the URI of a redirect may be relative', () => {
    expect(where('../2.json', null, 'https://a.example/tokens/1.json').url).toBe('https://a.example/2.json');
    expect(where('//b.example/x', null, 'https://a.example/').url).toBe('https://b.example/x');
  });

  it.each([
    ['nothing', ''],
    ['no URI', 'metadata.json'],
    ['another scheme', 'ftp://a.example/'],
    ['a file', 'file:///etc/passwd'],
    ['the thing itself', 'data:application/json,{}'],
    ['gopher', 'gopher://a.example:80/_GET'],
    ['credentials', 'https://user:secret@a.example/'],
    ['a name alone', 'https://user@a.example/'],
    ['a port of another service', 'http://a.example:6379/'],
    ['the port of the gateway at another host', 'https://a.example:8443/'],
    ['the port of the gateway by another scheme', 'http://gateway.example:8443/'],
    ['a port beyond ports', 'http://a.example:99999/'],
    ['a host that is none', 'http://a b/'],
    ['no content id', 'ipfs://'],
    ['a content id of other characters', 'ipfs://a.example/1.json'],
    ['dots for a content id', 'ipfs://../admin'],
    ['dots that climb out of the content', `ipfs://${cid}/../../admin`],
    ['encoded dots that climb', `ipfs://${cid}/%2e%2e/%2E%2E/admin`],
    ['dots that climb to a longer id', `ipfs://${cid}/../${cid}0/x`],
    ['dots doubly encoded that climb', `ipfs://${cid}/%252e%252e/%25252e./admin`],
    ['dots and a space that climb', `ipfs://${cid}/.. ?`],
    ['dots half encoded by the letters of an escape', `ipfs://${cid}/%%32e%2%65/admin`],
    ['backslashes that climb', `ipfs://${cid}\\..\\..\\admin`],
    ['an encoded slash', `ipfs://${cid}/a/..%2f..%2F..%2fadmin`],
    ['an encoded backslash', `ipfs://${cid}/..%5c..%5Cadmin`],
    ['a slash doubly encoded', `ipfs://${cid}/a%252fb`],
    ['an encoded end of line', `ipfs://${cid}/a%0d%0aHost:b`],
    ['a line in the middle', `ipfs://${cid}/.\n./.\t./admin`],
    ['dots before the content id', `ipfs://ipfs/../${cid}`],
    ['too much', `https://a.example/${'a'.repeat(2048)}`],
  ])('a URI is refused for %s', async (_, uri) => {
    expect(await codeOf(() => where(uri))).toBe('uri_unusable');
  });

  it('a URI in IPFS is refused without a gateway', async () => {
    expect(await codeOf(() => where(`ipfs://${cid}`, null))).toBe('uri_unusable');
  });

  it('a URI in IPFS stays below its content, whatever its path contains', () => {
    const part = constantFrom(
      '/',
      '\\',
      '.',
      '..',
      '%2e',
      '%252E',
      '%2f',
      '%5C',
      '%',
      '25',
      'ipfs',
      'a',
      '?',
      '#',
      ' ',
      '\n',
    );
    assert(
      property(array(part, { maxLength: 12 }), (parts) => {
        let url: string;
        try {
          ({ url } = where(`ipfs://${cid}/${parts.join('')}`));
        } catch (error) {
          if (error instanceof MetadataError) return;
          throw error;
        }
        for (let before = ''; before !== url;) {
          expect(new URL(url.replaceAll('\\', '/')).pathname).toMatch(new RegExp(`^/base/ipfs/${cid}(/|$)`));
          before = url;
          url = url.replace(/%([0-7][0-9a-f])/gi, (_escape, hex: string) => String.fromCharCode(parseInt(hex, 16)));
        }
      }),
      { seed: 34, numRuns: 2000 },
    );
  });
});
