import { describe, expect, test } from 'vitest';

import { renderStatus, statusPagePolicy, type Status } from '#service/main/status/status-page.ts';

const server = (more: Partial<Status['liteServers'][number]> = {}): Status['liteServers'][number] => ({
  index: 0,
  name: 'ls0',
  phase: 'in',
  cause: undefined,
  connected: true,
  tipSeqno: 100,
  lagBlocks: 2,
  lagSeconds: 1.25,
  p70Ms: { light: 3, state: 12.4 },
  depth: { masterchainBlock: { masterchain: 7, shard: 9 } },
  inFlight: 4,
  inFlightLimit: 32.7,
  lastMisbehaviour: undefined,
  tier: 'shared',
  role: 'latest',
  weight: 1,
  misbehaviours: 0,
  recentErrors: [],
  cordoned: false,
  ...more,
});

const statusOf = (liteServers: Status['liteServers'], more: Partial<Status> = {}): Status =>
  ({
    name: 'my-api',
    network: 'testnet',
    trust: 'verified',
    version: '0.1.0',
    uptimeSeconds: 61,
    ready: true,
    reasons: [],
    head: { seqno: 102, lagSeconds: 3 },
    liteServers,
    http: { draining: false, inFlight: 5 },
    ...more,
  }) as Status;

const textOf = (html: string): string => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

describe('the status page', () => {
  test('shows each lite server with its state, head, lag, score, depth, room and errors', () => {
    const recentErrors = [{ atMs: 4_000, outcome: 'timeout', text: 'no answer', count: 3 }];
    const html = renderStatus(statusOf([server({ recentErrors })]), 10_000);
    expect(textOf(html)).toContain('0 ls0 in 100 2 blocks, 1.3 s 3 ms, 12 ms, – 7, – 4 of 32 0');
    expect(textOf(html)).toContain('ls0 6 s timeout 3 no answer');
    expect(textOf(html)).toContain('head 102, 3 s old');
  });

  test('shows what the role has: requests of the API, progress of the index', () => {
    const html = textOf(renderStatus(statusOf([], { index: { state: 'Live', text: 'at 7, <all> of it' } }), 0));
    expect(html).toContain('requests in flight 5');
    expect(html).toContain('index at 7, &lt;all&gt; of it');
    const other = textOf(renderStatus(statusOf([], { http: undefined } as unknown as Partial<Status>), 0));
    expect(other).not.toContain('requests in flight');
    expect(other).not.toContain('index');
  });

  test('shows the figures of the last hour as curves, and links in its head', () => {
    const curves = [{ group: 'ls<0>', name: 'latency', unit: 'ms', values: [1, 12.34, 3] }];
    const html = renderStatus(statusOf([]), 0, { curves, links: { Explorer: '/explorer' } });
    expect(textOf(html)).toContain('The last hour part figure curve now most ls&lt;0&gt; latency 3.00 ms 12.3 ms');
    expect(html).toContain('<a href="/explorer">Explorer</a>');
    expect(html).toMatch(/<path d="M[^"]+" class="curve"\/>/);
    expect(renderStatus(statusOf([]), 0)).not.toContain('The last hour');
  });

  test('says what is bad', () => {
    const out = server({
      phase: 'out',
      cause: 'misbehaviour',
      connected: false,
      misbehaviours: 2,
      lastMisbehaviour: 'wrong id',
    });
    const html = renderStatus(statusOf([out], { ready: false, reasons: ['no usable lite server'] }), 0);
    expect(textOf(html)).toContain('out, misbehaviour, not connected');
    expect(textOf(html)).toContain('2: wrong id');
    expect(textOf(html)).toContain('not ready: no usable lite server');
    expect(textOf(renderStatus(statusOf([], { head: undefined }), 0))).toContain('head none yet');
  });

  test('shows what lite servers and manifests say as text, never as markup', () => {
    const evil = `<img src=x onerror="alert('1')">&`;
    const recentErrors = [{ atMs: 0, outcome: 'protocol', text: evil, count: 1 }];
    const html = renderStatus(statusOf([server({ name: evil, recentErrors })], { name: evil }), 0);
    expect(html).not.toContain('<img');
    expect(html.split('&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;').length - 1).toBe(8);
  });

  test('refreshes itself, runs nothing and loads nothing from anywhere', () => {
    const html = renderStatus(statusOf([server()]), 0);
    expect(html).toContain('<meta http-equiv="refresh" content="5">');
    expect(html).not.toMatch(/<script|<link|<img|src=|href=|url\(|@import/);
    expect(statusPagePolicy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; /);
  });
});
