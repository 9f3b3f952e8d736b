import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseRoute, paths } from '#service/explorer/app/paths.ts';

/** Reads a link as the browser does. */
function routeOf(link: string) {
  const { pathname, search } = new URL(link, 'http://explorer.test');
  return parseRoute(pathname, search);
}

describe('a link of the explorer', () => {
  it('leads to the page that it was made for, whatever the text is', () => {
    const word = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((text) => text.isWellFormed() && !/^\.{1,2}$/.test(text));
    fc.assert(
      fc.property(word, (text) => {
        expect(routeOf(paths.search(text))).toEqual({ page: 'search', text });
        expect(routeOf(paths.account(text, 'tokens'))).toEqual({ page: 'account', address: text, tab: 'tokens' });
        expect(routeOf(paths.trace(text))).toEqual({ page: 'trace', hash: text });
        expect(routeOf(paths.trace('ab', text))).toEqual({ page: 'trace', hash: 'ab', transaction: text });
        expect(routeOf(paths.transaction(text))).toEqual({ page: 'transaction', hash: text });
      }),
    );
  });

  it('names a block by its workchain, shard and number', () => {
    expect(routeOf(paths.block(-1, '8000000000000000', 7))).toEqual({
      page: 'block',
      workchain: -1,
      shard: '8000000000000000',
      seqno: 7,
    });
  });

  it('leads to the pages without a thing', () => {
    expect(
      [paths.home, '/explorer/', paths.config, paths.emulate, paths.network].map((link) => routeOf(link).page),
    ).toEqual(['home', 'home', 'config', 'emulate', 'network']);
  });

  it.each([
    '/explorer/nothing',
    '/explorer/account',
    '/explorer/account/a/b',
    '/explorer/block/x',
    '/explorer/block/-1:80:1',
    '/explorer/block/-1:8000000000000000:4294967295',
    '/explorer/block/2147483648:8000000000000000:1',
    '/explorer/account/%E0%A4%A',
    '/explorer/config/1',
    '/explorer/trace/%ff',
    '/explorers',
  ])('to no page of ours is unknown: %s', (link) => {
    expect(parseRoute(link, '').page).toBe('unknown');
  });
});
