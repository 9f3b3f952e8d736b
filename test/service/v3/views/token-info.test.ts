import { describe, expect, it } from 'vitest';

import { describeToken, type TokenInfo } from '#service/v3/views/token-info.ts';

/** A token with this content on the chain. */
const onChain = (content: Readonly<Record<string, string>>): TokenInfo =>
  describeToken({ type: 'jetton_masters', index: null, metadata: null, content }).info;

/** A token with these fetched data. */
const fetched = (image: string, extra: Readonly<Record<string, unknown>>): TokenInfo => {
  const metadata = { valid: true, name: 'A', symbol: 'A', description: null, image, extra };
  return describeToken({ type: 'jetton_masters', index: null, metadata, content: null }).info;
};

const links = (url: string): Readonly<Record<string, string>> => ({
  _image_small: url,
  _image_medium: url,
  _image_big: url,
});

describe('the images of a token', () => {
  it('have the URL of the image in three sizes, also of a token that is never fetched', () => {
    const url = 'https://a.example/a.png';
    expect(onChain({ symbol: 'A', image: url }).extra).toEqual(links(url));
    expect(fetched(url, { decimals: '9', _image_big: 'http://10.0.0.1/' }).extra).toEqual({
      decimals: '9',
      ...links(url),
    });
  });

  it('have the links that were fetched when the image is in IPFS', () => {
    const extra = links('https://gateway.example/ipfs/Qm');
    expect(fetched('ipfs://Qm', extra).extra).toEqual(extra);
  });

  it.each([
    'data:image/png;base64,AAAA',
    'ipfs://Qm',
    'http://10.0.0.1/a.png',
    'http://2130706433/a.png',
    'http://[::1]/a.png',
    'http://localhost/a.png',
    'https://a.example:8443/a.png',
    'https://user:word@a.example/a.png',
    `https://a.example/${'a'.repeat(2048)}`,
    'a.png',
  ])('have no links to %s', (image) => {
    expect(onChain({ symbol: 'A', image, decimals: '9' }).extra).toEqual({ decimals: '9' });
  });

  it('are left out with an extra that is empty', () => {
    expect(onChain({ symbol: 'A' })).not.toHaveProperty('extra');
    expect(fetched('data:,', {})).not.toHaveProperty('extra');
  });
});
