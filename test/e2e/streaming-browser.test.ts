import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { findBrowser, type Browser, type Context, type Page } from '#test/support/browser.ts';
import { startFaultyRelay } from '#test/support/faulty-relay.ts';
import { startService, type ServiceProcess } from '#test/support/service-process.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { checkFrame } from '#test/support/stream-contract.ts';

const found = await findBrowser();
const why = 'missing' in found ? found.missing : '';

type Frame = { readonly transactions?: readonly { readonly hash: string }[] };

const hashesOf = (page: Page) => async (): Promise<string[]> => {
  const frames = await page.evaluate<readonly Frame[]>('seen');
  for (const frame of frames) checkFrame(frame);
  return frames.flatMap(({ transactions = [] }) => transactions.map(({ hash }) => hash));
};

describe.skipIf(skipLoudly('missing' in found, { what: 'streams in a browser', why }))('a stream in chromium', () => {
  let service: ServiceProcess;
  let browser: Browser;
  let context: Context;

  beforeAll(async () => {
    service = await startService(['--require-key', '--block-time', 'on-demand', '--index']);
    browser = await ('launch' in found ? found.launch() : Promise.reject(new Error(why)));
    context = await browser.newContext();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop('SIGKILL');
  });

  async function fund(address: string): Promise<void> {
    const response = await fetch(`${service.url}/faucet`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': service.key },
      body: JSON.stringify({ address, amount: '1' }),
    });
    expect(response.status).toBe(200);
  }

  /** Opens a page of another origin that collects the events of a stream. */
  async function listen(
    address: string,
    transport: 'EventSource' | 'WebSocket',
    url: string = service.url,
  ): Promise<Page> {
    const page = await context.newPage();
    // The name of the host differs from the name in the URLs below: another origin.
    await page.goto(`${service.url.replace('127.0.0.1', 'localhost')}/api/v2/getMasterchainInfo`);
    const query = `api_key=${service.key}`;
    await page.evaluate(
      transport === 'EventSource'
        ? `window.seen = []; window.opened = 0;
           window.stream = new EventSource('${url}/api/streaming/v2/sse?${query}&types=transactions&addresses=${address}');
           stream.addEventListener('connected', () => window.opened++);
           stream.onmessage = ({ data }) => seen.push(JSON.parse(data));`
        : `window.seen = []; window.opened = 0;
           window.stream = new WebSocket('${url.replace('http', 'ws')}/api/streaming/v2/ws?${query}');
           stream.onopen = () => stream.send(JSON.stringify({ operation: 'subscribe', id: '1', types: ['transactions'], addresses: ['${address}'] }));
           stream.onmessage = ({ data }) => { const frame = JSON.parse(data); frame.status === 'subscribed' ? window.opened++ : seen.push(frame); };`,
    );
    await expect.poll(() => page.evaluate<number>('window.opened')).toBe(1);
    return page;
  }

  it.each(['EventSource', 'WebSocket'] as const)(
    'over %s brings a transfer to a page of another origin, with the key in the query',
    async (transport) => {
      const address = `0:${(transport === 'EventSource' ? '61' : '62').repeat(32)}`;
      const page = await listen(address, transport);
      await fund(address);
      await expect.poll(hashesOf(page)).toHaveLength(1);
    },
  );

  it('resumes by itself when the network was away, without loss or repetition', async () => {
    const address = `0:${'63'.repeat(32)}`;
    const relay = await startFaultyRelay(Number(new URL(service.url).port), () => 0);
    const page = await listen(address, 'EventSource', `http://127.0.0.1:${relay.port}`);
    await fund(address);
    await expect.poll(hashesOf(page)).toHaveLength(1);
    // The browser's switch leaves open streams alone. A network that is away cuts them too.
    await context.setOffline(true);
    relay.lose('reset', 1);
    await fund(address);
    await fund(address);
    await context.setOffline(false);
    await fund(address);
    await expect.poll(hashesOf(page)).toHaveLength(4);
    const hashes = await hashesOf(page)();
    expect(new Set(hashes).size).toBe(4);
    expect(await page.evaluate<number>('window.opened')).toBe(2);
    await page.close();
    await relay.close();
  });

  it.each(['EventSource', 'WebSocket'] as const)(
    'over %s brings a tab that was asleep, once it is awake, all that happened, once',
    async (transport) => {
      const address = `0:${(transport === 'EventSource' ? '64' : '65').repeat(32)}`;
      const page = await listen(address, transport);
      await fund(address);
      await expect.poll(hashesOf(page)).toHaveLength(1);
      const session = await context.newCDPSession(page);
      await session.send('Page.setWebLifecycleState', { state: 'frozen' });
      await fund(address);
      await fund(address);
      await session.send('Page.setWebLifecycleState', { state: 'active' });
      await fund(address);
      await expect.poll(hashesOf(page)).toHaveLength(4);
      const hashes = await hashesOf(page)();
      expect(new Set(hashes).size).toBe(4);
    },
  );
});
