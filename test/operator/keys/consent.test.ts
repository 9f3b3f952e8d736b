import { describe, expect, it } from 'vitest';

import { consents } from '#operator/keys/consent.ts';
import type { TonApi } from '#operator/resource.ts';
import { sample } from '#test/operator/desired/samples.ts';

describe('a TonApi', () => {
  const selector = { matchLabels: { keys: 'yes', tier: 'gold' } };
  it.each<[string, TonApi['spec']['keys'], string, Record<string, string> | undefined, boolean]>([
    ['its own namespace', undefined, 'ton', undefined, true],
    ['no other without keys', undefined, 'shop', {}, false],
    ['no other with Same', { allowedNamespaces: 'Same' }, 'shop', { keys: 'yes' }, false],
    ['every namespace with All', { allowedNamespaces: 'All' }, 'shop', undefined, true],
    [
      'a namespace with all labels',
      { allowedNamespaces: 'Selector', selector },
      'shop',
      { keys: 'yes', tier: 'gold', more: 'x' },
      true,
    ],
    ['no namespace that lacks a label', { allowedNamespaces: 'Selector', selector }, 'shop', { keys: 'yes' }, false],
    ['no namespace whose labels are unknown', { allowedNamespaces: 'Selector', selector }, 'shop', undefined, false],
    ['every namespace with an empty selector', { allowedNamespaces: 'Selector', selector: {} }, 'shop', {}, true],
  ])('lets keys of %s point at it', (_case, keys, namespace, labels, expected) => {
    expect(consents(sample('smallest', keys && { keys }), namespace, labels)).toBe(expected);
  });
});
