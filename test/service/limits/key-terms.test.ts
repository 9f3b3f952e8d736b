import { describe, expect, it } from 'vitest';

import { inSources, readTerms } from '#service/limits/key-terms.ts';

/** Returns the terms of a row and the problems found in it. */
function read(row: Readonly<Record<string, unknown>>) {
  const problems: string[] = [];
  return { terms: readTerms({ plan: 'pro', ...row }, 'keys[0]', problems), problems };
}

const texts = (count: number, text = 'name'): string[] => Array.from({ length: count }, () => text);

describe('the terms of a key', () => {
  it('terms at their bounds are read', () => {
    const { terms, problems } = read({
      owner: 'a'.repeat(253),
      allowedMethods: texts(128, 'getAddressInformation'),
      allowedSources: texts(32, '192.0.2.0/24'),
      overrides: { requestsPerSecond: 1_000_000, burst: 1 },
    });
    expect(problems).toEqual([]);
    expect(terms).toMatchObject({ plan: 'pro', overrides: { requestsPerSecond: 1_000_000, burst: 1 } });
    expect(terms.allowedMethods).toEqual(new Set(['getAddressInformation']));
  });

  it('an alias stands for its operation, and an unknown name for itself', () => {
    const { terms } = read({ allowedMethods: ['shards', 'account', 'wallet', 'nowhere'] });
    const names = ['getShards', 'addressInformation', 'walletInformation', 'nowhere'];
    expect(terms.allowedMethods).toEqual(new Set(names));
  });

  it.each([
    ['an owner of 254 characters', 'owner', { owner: 'a'.repeat(254) }],
    ['an operation without a name', 'allowedMethods', { allowedMethods: [''] }],
    ['129 operations', 'allowedMethods', { allowedMethods: texts(129) }],
    ['sources that are no list', 'allowedSources', { allowedSources: '192.0.2.0/24' }],
    ['33 sources', 'allowedSources', { allowedSources: texts(33, '192.0.2.0/24') }],
    ['a source without a length', 'allowedSources', { allowedSources: ['192.0.2.0'] }],
    ['a source with two lengths', 'allowedSources', { allowedSources: ['192.0.2.0/24/24'] }],
    ['a source of 33 bits', 'allowedSources', { allowedSources: ['192.0.2.0/33'] }],
    ['a source with a name', 'allowedSources', { allowedSources: ['example.org/24'] }],
    ['overrides that are a list', 'overrides', { overrides: [] }],
    ['an override of another field', 'overrides', { overrides: { requestsPerDay: 1 } }],
    ['a rate of 0', 'overrides', { overrides: { requestsPerSecond: 0 } }],
    ['a rate in halves', 'overrides', { overrides: { requestsPerSecond: 1.5 } }],
    ['a rate above a million', 'overrides', { overrides: { burst: 1_000_001 } }],
  ])('terms with %s are refused by the name of the field', (_what, field, row) => {
    const { problems } = read(row);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^keys\\[0\\]\\.${field}: expected`));
  });

  it('an address is in its ranges alone, IPv4 also as mapped IPv6', () => {
    const sources = read({ allowedSources: ['192.0.2.0/24', '2001:db8::/32'] }).terms.allowedSources!;
    const inside = ['192.0.2.9', '::ffff:192.0.2.9', '2001:db8::1'];
    expect([...inside, '192.0.3.1', '2001:db9::1', 'unknown'].filter((one) => inSources(sources, one))).toEqual(inside);
  });
});
