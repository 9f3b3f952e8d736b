import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { runDevCommand } from '#service/main/commands/dev-command.ts';
import { findBrowser, type Browser, type Page } from '#test/support/browser.ts';
import { startService, type ServiceProcess } from '#test/support/service-process.ts';
import { skipLoudly } from '#test/support/skips.ts';

const found = await findBrowser();
const why = 'missing' in found ? found.missing : '';

const receiver = `0:${'7b'.repeat(32)}`;

let service: ServiceProcess;

beforeAll(async () => {
  service = await startService(['--require-key', '--block-time', 'on-demand', '--index']);
});
afterAll(() => service?.stop('SIGKILL'));

describe.skipIf(skipLoudly('missing' in found, { what: 'start page in a browser', why }))(
  'the start page in chromium',
  () => {
    let browser: Browser;
    let page: Page;
    const complaints: string[] = [];

    beforeAll(async () => {
      browser = await ('launch' in found ? found.launch() : Promise.reject(new Error(why)));
      page = await browser.newPage();
      page.on('console', (entry) => complaints.push(entry.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
    });
    afterAll(async () => browser?.close());

    const text = (selector: string) => async (): Promise<string> => (await page.textContent(selector)) ?? '';

    it('shows what runs, accounts with balances, the demo, how to connect, and the newest transactions', async () => {
      await page.goto(`${service.url}/start`);
      await expect.poll(text('#state')).toMatch(/ready \| block \d+ \| global id -217 \| lite server/);
      await expect.poll(text('#accounts')).toContain('muscle census social');
      expect(await text('#accounts')()).toContain('10000 TON');
      expect(await text('#demo')()).toContain('jetton minter');
      expect(await text('#connect')()).toContain('npx blueprint run --custom');
      await expect.poll(text('#transactions')).toMatch(/TON/);
    });

    it('sends from the faucet, says what is wrong with an amount, and shows a clock that is ahead', async () => {
      await page.goto(`${service.url}/start`);
      await page.fill('[name=address]', receiver);
      await page.fill('[name=amount]', '2.5');
      await page.click('#faucet button');
      await expect.poll(text('#sent')).toMatch(/^sent in block \d+$/);
      await expect.poll(text('#transactions')).toContain('2.5 TON');
      await page.fill('[name=amount]', '-1');
      await page.click('#faucet button');
      await expect.poll(text('#sent')).toMatch(/^amount: expected TON/);
      await runDevCommand(['advance', '3600', '--internal-url', service.internalUrl]);
      await expect.poll(text('#state')).toMatch(/clock 36\d\d s ahead of this machine/);
    });

    it('is linked from the explorer, which opens at / and takes the key of the network by itself', async () => {
      await page.goto(`${service.url}/`);
      expect(new URL(page.url()).pathname).toBe('/explorer');
      await expect.poll(text('main')).toContain('Masterchain head');
      expect(await text('main')()).not.toContain('valid key');
      await page.click('nav.main a[href="/start"]');
      await expect.poll(text('#connect')).toContain('npx blueprint run');
    });

    it('leads to the documents of v2 and v3 in one page, with demo addresses as examples', async () => {
      await page.goto(`${service.url}/docs`);
      await expect.poll(text('#swagger-ui')).toContain('getAddressInformation');
      expect(await text('.topbar select')()).toContain('v3');
    });

    it('runs nothing that its policy refuses', () => {
      expect(complaints.filter((line) => /Content.Security.Policy|Error/i.test(line) && !/422/.test(line))).toEqual([]);
    });

    it('has links to all pages of the internal port', async () => {
      await page.goto(`${service.internalUrl}/`);
      for (const path of ['/status', '/metrics', '/global.config.json', '/openapi.json']) {
        expect((await page.content()).includes(`href="${path}"`)).toBe(true);
      }
    });
  },
);

describe('the start page', () => {
  it('is at /start; / is a redirect to the explorer', async () => {
    const answers = await Promise.all(
      ['/', '/start'].map((path) => fetch(`${service.url}${path}`, { redirect: 'manual' })),
    );
    expect(answers.map(({ status, headers }) => [status, headers.get('location')])).toEqual([
      [302, '/explorer'],
      [200, null],
    ]);
  });

  it('gives its facts to no page of another origin, and lets nothing inline run', async () => {
    const answers = [
      await fetch(`${service.url}/start/facts.json`, { headers: { origin: 'https://page.example' } }),
      await fetch(`${service.url}/start/facts.json`, { headers: { 'sec-fetch-site': 'cross-site' } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
    const own = await fetch(`${service.url}/start/facts.json`);
    expect([own.status, own.headers.get('access-control-allow-origin')]).toEqual([200, null]);
    expect(await own.json()).toMatchObject({ key: service.key });
    const page = await fetch(`${service.url}/start`);
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    expect(await page.text()).not.toMatch(/<script>|<style|\son\w+=|\sstyle=/);
  });

  it('puts demo addresses into the documents of v2 and v3', async () => {
    for (const contract of ['v2', 'v3']) {
      const document = await (await fetch(`${service.url}/api/${contract}/openapi.json`)).text();
      expect(document).toMatch(/"example":"(?:0:[0-9a-f]{64}|[UE]Q[\w-]{46})"/);
    }
  });

  it('of status as HTML shows each field of its JSON', async () => {
    const html = await (await fetch(`${service.internalUrl}/status.html`)).text();
    for (const field of [
      'devchain.kind',
      'devchain.demo.jetton minter',
      'liteServers[0].phase',
      'trustedKeyBlock.seqno',
    ]) {
      expect(html).toContain(`<td>${field}</td>`);
    }
  });
});
