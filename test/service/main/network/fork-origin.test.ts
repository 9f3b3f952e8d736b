import { describe, expect, it } from 'vitest';

import { readForkOrigin } from '#service/main/network/fork-origin.ts';

const key = Buffer.alloc(32, 0xfb);
const text = key.toString('base64');

describe('what is forked', () => {
  it.each([
    ['global.config.json', { network: { file: 'global.config.json' }, seqno: undefined }],
    ['/a/b@c/net.json@17', { network: { file: '/a/b@c/net.json' }, seqno: 17 }],
    [`10.0.0.1:4443:${text}`, { network: { host: '10.0.0.1', port: 4443, key }, seqno: undefined }],
    [`ls.example.com:1:${text}@5`, { network: { host: 'ls.example.com', port: 1, key }, seqno: 5 }],
    [`[::1]:65535:${key.toString('base64url')}@1`, { network: { host: '::1', port: 65_535, key }, seqno: 1 }],
  ])('is read from %s', (spec, origin) => {
    expect(readForkOrigin(spec)).toEqual(origin);
  });

  it.each(['', 'net.json@0', 'net.json@2147483648', `10.0.0.1:0:${text}`, `10.0.0.1:65536:${text}@4`])(
    'is not %j',
    (spec) => {
      expect(() => readForkOrigin(spec)).toThrow('--fork: expected FILE, FILE@SEQNO, HOST:PORT:KEY');
    },
  );
});
