import { createHash } from 'node:crypto';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ways } from '#test/service/http/requests.ts';
import { readRecords } from '#test/service/tvm/recorded-world.ts';
import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { ask } from '#test/support/v2-call-styles.ts';

// Every name that the recorded node's library resolved, asked of the whole service over HTTP.

type Entry = { category: string; entry: { '@type': string } };
type DnsRecord = {
  note: string;
  request: {
    '@type': string;
    account_address: { account_address: string };
    name: string;
    category: string;
    ttl: number;
  };
  response: { '@type': string; entries?: Entry[] };
};

/** The category that stands for all of them. */
const ALL = Buffer.alloc(32).toString('base64');

const [folder] = recordingDirs();
const records = (await readRecords<DnsRecord>(join(folder ?? '', 'tonlib.jsonl'))).filter(
  ({ request }) => request['@type'] === 'dns.resolve',
);
const none = skipLoudly(records.length === 0, {
  what: 'recorded names over HTTP',
  why: 'no dns.resolve in tonlib.jsonl',
});

describe.skipIf(none)('names over HTTP', () => {
  let service: ApiUnderTest;
  beforeAll(async () => {
    service = await startApiUnderTest({ behindBlocks: 0 });
  });
  afterAll(() => service.close());

  async function resolve(way: (typeof ways)[number], params: Record<string, unknown>): Promise<Entry[]> {
    const { body } = await ask({ url: service.api.url, key: service.key }, way, 'dnsResolve', params);
    expect(body).toMatchObject({ ok: true, result: { '@type': 'dns.resolved' } });
    return (body['result'] as { entries: Entry[] }).entries;
  }

  describe.each(ways)('by %s', (way) => {
    it.each(records)('$note in $request.category', async ({ request, response }) => {
      const { account_address: address, name, category, ttl } = request;
      const entries = await resolve(way, { address: address.account_address, name, ttl });
      // Records of all categories are shown. An unregistered name is an error of the library and none here (service/v2/README.md#dns).
      const asked = entries.filter((entry) => category === ALL || entry.category === category);
      expect(asked).toEqual(response.entries ?? []);
    });
  });

  it('stops at the next resolver when none may be asked, and goes on from there', async () => {
    const { account_address: address, name } = records.find(
      ({ response }) => (response.entries ?? []).length > 0,
    )!.request;
    const start = address.account_address;
    const whole = await resolve('POST', { address: start, name, ttl: 9 });
    const [first, ...others] = (await resolve('POST', { address: start, name })) as unknown as {
      name: string;
      category: string;
      entry: { '@type': string; resolver: { account_address: string } };
    }[];
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      category: createHash('sha256').update('dns_next_resolver').digest('base64'),
      entry: { '@type': 'dns.entryDataNextResolver' },
    });
    expect(`${name}.`.endsWith(first!.name)).toBe(true);
    const rest = `${name}.`.slice(0, -first!.name.length).replace(/\.$/, '');
    const next = first!.entry.resolver.account_address;
    expect(await resolve('POST', { address: next, name: rest, ttl: 9 })).toEqual(whole);
  });

  it('has no records where nothing resolves: an absent account, a contract without the method', async () => {
    const absent = `0:${'42'.repeat(32)}`;
    expect(await resolve('GET', { address: absent, name: 'a.ton', ttl: 3 })).toEqual([]);
    const elector = `-1:${'33'.repeat(32)}`;
    expect(await resolve('GET', { address: elector, name: 'a.ton', ttl: 3 })).toEqual([]);
  });
});
