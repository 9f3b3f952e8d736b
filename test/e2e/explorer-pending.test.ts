import { Address } from '@ton/core';
import { mnemonicToPrivateKey } from '@ton/crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { paths } from '#service/explorer/app/paths.ts';
import { runDevCommand } from '#service/main/commands/dev-command.ts';
import { traceOf } from '#test/service/explorer/app/traces.ts';
import { findBrowser, intercept, type Browser, type Page } from '#test/support/browser.ts';
import { startService, type ServiceProcess } from '#test/support/service-process.ts';
import { readV3 } from '#test/support/service-v3.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { testWallet, transfer, type TestWallet } from '#test/support/wallet.ts';

const found = await findBrowser();
const why = 'missing' in found ? found.missing : '';

/** A busy machine simulates and indexes late. */
const patient = { timeout: 60_000 };

const selectedLevel = "document.querySelector('[aria-selected=true]')?.getAttribute('aria-level')";

describe.skipIf(skipLoudly('missing' in found, { what: 'pending traces in the explorer', why }))(
  'a trace in the explorer',
  () => {
    let service: ServiceProcess;
    let browser: Browser;
    let page: Page;

    beforeAll(async () => {
      service = await startService(['--block-time', 'manual', '--no-demo', '--index']);
      browser = await ('launch' in found ? found.launch() : Promise.reject(new Error(why)));
      page = await browser.newPage();
    }, 240_000);
    afterAll(async () => {
      await browser?.close();
      await service?.stop('SIGKILL');
    });

    const receiver = `0:${'7d'.repeat(32)}`;

    /** The first wallet of the network, and its message that sends TON. @param seqno that the message names */
    async function walletMessage({ seqno = 0, to = receiver, bounces = false } = {}): Promise<{
      readonly wallet: TestWallet;
      readonly boc: string;
    }> {
      const facts = await fetch(`${service.url}/start/facts.json`);
      const { accounts } = (await facts.json()) as { accounts: { mnemonic: string }[] };
      const { secretKey } = await mnemonicToPrivateKey(accounts[0]!.mnemonic.split(' '));
      const wallet = testWallet(secretKey.subarray(0, 32));
      const message = wallet.send(seqno, [transfer(to, 1_234_567_890n, bounces)], { deploy: seqno === 0 });
      return { wallet, boc: message.toString('base64') };
    }

    /** Sends a message. @returns its hash */
    async function send(boc: string): Promise<string> {
      const response = await fetch(`${service.url}/api/v2/sendBocReturnHash`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ boc }),
      });
      const answer = (await response.json()) as { result: { hash: string } };
      expect({ status: response.status, answer }).toMatchObject({ status: 200 });
      return answer.result.hash;
    }

    const text = (): Promise<string> => page.evaluate<string>('document.body.innerText');

    /** Pastes a text into the page of the emulation, and runs it. */
    async function emulate(pasted: string): Promise<void> {
      await page.goto(`${service.url}${paths.emulate}`);
      await page.fill('textarea[name=message]', pasted);
      await page.click('main button[type=submit]');
    }

    const boxes = (): Promise<number> => page.evaluate<number>("document.querySelectorAll('g.node').length");

    it('is drawn before it is sent, from a pasted message', async () => {
      await emulate((await walletMessage()).boc);
      await expect.poll(boxes, patient).toBe(2);
      expect(await text()).toContain('1.23456789');
      expect(await page.evaluate('document.querySelectorAll(\'main a[href^="/explorer/tx/"]\').length')).toBe(0);
    }, 240_000);

    it('is drawn from a TON Connect request', async () => {
      const { wallet } = await walletMessage();
      const from = wallet.address.toRawString();
      const address = Address.parse(receiver).toString({ bounceable: false });
      await emulate(JSON.stringify({ from, messages: [{ address, amount: '1234567890' }] }));
      await expect.poll(boxes, patient).toBe(2);
      expect(await text()).toContain('1.23456789');
    }, 240_000);

    it('is refused with exit code and meaning when the message names another seqno', async () => {
      await emulate((await walletMessage({ seqno: 7 })).boc);
      await expect.poll(text, patient).toMatch(/The contract does not accept the message: exit code \d+ \(/);
      expect(await boxes()).toBe(0);
    }, 240_000);

    it('is shown as it is simulated, with links to its simulated transactions, then as it comes', async () => {
      const hash = await send((await walletMessage()).boc);
      await page.goto(`${service.url}${paths.trace(hash)}`);
      await expect.poll(text, patient).toContain('Simulated: no block has all of it yet');
      await expect.poll(() => page.evaluate("document.querySelectorAll('g.node.pending').length"), patient).toBe(2);
      await page.evaluate('document.querySelector(\'[role=treeitem][tabindex="0"]\').focus()');
      await page.keyboard.press('ArrowRight');
      await expect.poll(() => page.evaluate(selectedLevel), patient).toBe('2');
      expect(await text()).toContain('1.23456789');

      const simulated = 'section[aria-label="Selected transaction"] a[href*="?tx="]';
      const link = await page.evaluate<string>(`document.querySelector('${simulated}').href`);
      await page.goto(link);
      await expect.poll(() => page.evaluate(selectedLevel), patient).toBe('2');

      await runDevCommand(['mine', '5', '--internal-url', service.internalUrl]);
      await expect.poll(text, patient).toContain('Complete');
      expect(await page.evaluate("document.querySelectorAll('g.node.pending').length")).toBe(0);
      expect(await page.evaluate(selectedLevel)).toBe('2');
      await page.waitForSelector('section[aria-label="Selected transaction"] a[href^="/explorer/tx/"]');
    }, 240_000);

    it('runs over masterchain blocks: the page follows it to its end', async () => {
      // The masterchain has no such account: the message comes back in the next block.
      const absent = `-1:${'7e'.repeat(32)}`;
      const { wallet } = await walletMessage();
      const states = `walletStates?address=${wallet.address.toRawString()}`;
      const { wallets } = await readV3<{ wallets: { seqno?: number }[] }>(service, states);
      const next = { seqno: wallets[0]?.seqno ?? 0, to: absent, bounces: true };
      const hash = await send((await walletMessage(next)).boc);
      await runDevCommand(['mine', '1', '--internal-url', service.internalUrl]);
      const read = (): Promise<{ traces: unknown[] }> => readV3(service, `traces?msg_hash=${encodeURIComponent(hash)}`);
      await expect
        .poll(async () => (await read()).traces, patient)
        .toMatchObject([{ is_incomplete: false, trace_info: { trace_state: 'pending', pending_messages: 1 } }]);
      await page.goto(`${service.url}${paths.trace(hash)}`);
      await expect.poll(text, patient).toContain('Runs: some messages are on their way');
      await expect.poll(text, patient).toContain('Live');

      await runDevCommand(['mine', '5', '--internal-url', service.internalUrl]);
      await expect.poll(text, patient).toContain('Complete');
      expect(await boxes()).toBe(3);
      expect(await text()).not.toContain('Live');
    }, 240_000);

    it.each([
      ['finished', 'complete', 'Complete', false],
      ['runs', 'pending', 'Runs: some messages are on their way', true],
      ['has no known beginning', 'broken', 'Broken: the index does not have', true],
    ] as const)('says that it %s where it is too large, and its count', async (_how, state, shown, isFollowed) => {
      const id = Buffer.alloc(32, 7).toString('base64');
      const named = { trace_id: id, external_hash: null, is_incomplete: true, trace: undefined, transactions: {} };
      const large = traceOf(named, { trace_state: state, transactions: 12_011 });
      const end = await intercept(page, '*/api/v3/traces*', async (route) => {
        const body = JSON.stringify({ traces: [large], address_book: {}, metadata: {} });
        await route.fulfill({ status: 200, contentType: 'application/json', body });
      });
      await page.goto(`${service.url}${paths.trace(id)}`);
      await expect.poll(text, patient).toContain('The trace is too large to be shown here.');
      for (const one of [shown, '12\u202f011']) expect(await text()).toContain(one);
      expect(await text()).not.toContain('The trace has no transactions yet.');
      await expect.poll(async () => (await text()).includes('Live'), patient).toBe(isFollowed);
      await end();
    });

    it('says nothing of streams for a text that is no hash', async () => {
      await page.goto(`${service.url}${paths.trace('no-hash')}`);
      await expect.poll(text, patient).toContain('A hash has 64 hexadecimal digits');
      expect(await text()).not.toContain('streams');
    });

    it('is named by the page of a transaction that no block has', async () => {
      await page.goto(`${service.url}${paths.transaction('cd'.repeat(32))}`);
      await expect.poll(text, patient).toContain('A simulated transaction has no page');
    }, 120_000);
  },
);
