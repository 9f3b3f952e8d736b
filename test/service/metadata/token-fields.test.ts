import { describe, expect, it } from 'vitest';

import { mergeTokenFields, planFetch } from '#service/metadata/token-fields.ts';

const nothing = { name: null, symbol: null, description: null, image: null, extra: {} };

describe('the words of a token', () => {
  it('metadata comes from outside, but keys on the chain override it', () => {
    const words = mergeTokenFields(
      'jetton_masters',
      { uri: 'https://a.example/1.json', symbol: 'CHAIN', decimals: '6' },
      {
        name: 'Outside',
        symbol: 'PAGE',
        decimals: 9,
        description: 'A token',
        image: 'https://a.example/1.png',
        social: ['x'],
      },
    );
    expect(words).toEqual({
      name: 'Outside',
      symbol: 'CHAIN',
      description: 'A token',
      image: 'https://a.example/1.png',
      extra: { decimals: '6', social: ['x'], uri: 'https://a.example/1.json' },
    });
  });

  it('values that are no texts are extra, like all other fields', () => {
    expect(
      mergeTokenFields('nft_items', {}, { name: 7, image: ['a.png'], attributes: [{ a: 1 }], description: 'A' }),
    ).toEqual({
      ...nothing,
      description: 'A',
      extra: { name: 7, image: ['a.png'], attributes: [{ a: 1 }] },
    });
  });

  it.each([
    ['jetton_masters', 9, '9'],
    ['jetton_masters', '9', '9'],
    ['jetton_masters', 9.5, 9.5],
    ['nft_items', 9, 9],
  ] as const)('the decimals of %s, given as %j, become %j', (type, given, decimals) => {
    expect(mergeTokenFields(type, {}, { decimals: given }).extra).toEqual({ decimals });
  });

  it('text that Postgres cannot store is removed at every depth', () => {
    const outside = JSON.parse(
      String.raw`{"name":"a\u0000b\ud800","list":[{"k\u0000ey":"\udc00"},1e400],"\u0000":"\u0000"}`,
    ) as Record<string, unknown>;
    expect(mergeTokenFields('nft_items', {}, outside)).toEqual({
      ...nothing,
      name: 'ab\uFFFD',
      extra: { list: [{ key: '\uFFFD' }, null], '': '' },
    });
  });

  it("metadata never changes an object's prototype, nor passes such a key on", () => {
    const page =
      '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}},"a":{"__proto__":{"isAdmin":true}},"name":"N"}';
    const words = mergeTokenFields('nft_items', {}, JSON.parse(page) as Record<string, unknown>);
    expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined();
    expect(Object.getPrototypeOf(words.extra)).toBe(Object.prototype);
    expect(JSON.stringify(words.extra)).toBe('{"constructor":{"prototype":{"isAdmin":true}},"a":{}}');
    expect(words.name).toBe('N');
  });

  it('such a key is also left out when what Postgres cannot store hides it', () => {
    const page = String.raw`{"__pro\u0000to__":{"isAdmin":true},"a":[{"\u0000__proto__":1,"b":2}],"k\u0000ey":3}`;
    const { extra } = mergeTokenFields('nft_items', {}, JSON.parse(page) as Record<string, unknown>);
    expect(JSON.stringify(extra)).toBe('{"a":[{"b":2}],"key":3}');
  });

  it('texts are cut beyond a readable length, and never within a character', () => {
    const { name, description, symbol } = mergeTokenFields(
      'jetton_masters',
      {},
      { name: `${'a'.repeat(1023)}😀`, symbol: 's'.repeat(5000), description: 'd'.repeat(100_000) },
    );
    expect([name, symbol?.length, description?.length]).toEqual([`${'a'.repeat(1023)}\uFFFD`, 1024, 16_384]);
  });

  it('an image longer than a small picture is dropped, because a part of a link leads nowhere', () => {
    expect(mergeTokenFields('nft_items', {}, { image: `data:,${'a'.repeat(60_000)}` }).image).toHaveLength(60_006);
    expect(mergeTokenFields('nft_items', {}, { image: `data:,${'a'.repeat(70_000)}` })).toEqual(nothing);
  });

  it('extra has as many fields as fit, fields on the chain before all others', () => {
    const words = mergeTokenFields(
      'nft_items',
      { image_data: 'c'.repeat(40_000), uri: 'https://a.example/' },
      { large: 'p'.repeat(40_000), small: 1, ['k'.repeat(300)]: 2 },
    );
    expect(Object.keys(words.extra)).toEqual(['small', 'image_data', 'uri']);
  });
});

describe('what is to be done for a token', () => {
  it.each([
    ['jetton_masters', { symbol: 'A', uri: 'https://a.example/' }, { uri: 'https://a.example/' }],
    ['jetton_masters', { symbol: 'A' }, 'enough'],
    ['jetton_masters', { name: 'A' }, 'nothing'],
    ['jetton_masters', { name: 'A', uri: 'tonstorage://x' }, 'nothing'],
    ['nft_items', { domain: 'a.ton' }, 'enough'],
    ['nft_items', { description: 'A' }, 'nothing'],
    ['nft_collections', { image: 'x' }, 'enough'],
    ['nft_collections', {}, 'nothing'],
  ] as const)('the plan for %s with %j is %j', (type, content, step) => {
    expect(planFetch(type, content)).toEqual(step);
  });
});
