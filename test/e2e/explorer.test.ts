import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { formatCount, formatTon } from '#service/explorer/app/format.ts';
import type { Action, Block, Trace, Transaction } from '#service/explorer/app/objects.ts';
import { paths } from '#service/explorer/app/paths.ts';
import { findBrowser, intercept, type Browser, type Page, type Route } from '#test/support/browser.ts';
import { startService, type ServiceProcess } from '#test/support/service-process.ts';
import { readV3 } from '#test/support/service-v3.ts';
import { chainOf, fanOf } from '#test/service/explorer/app/traces.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { someOf, spreadOf } from '#test/support/volume.ts';

const found = await findBrowser();
const why = 'missing' in found ? found.missing : '';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Rules of WCAG 2.2 at the levels A and AA. */
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** A busy machine draws a page late. */
const patient = { timeout: 120_000 };

/** Scripts that count on a page: its width in pixels, and elements that load or run something. */
const width = 'document.documentElement.scrollWidth';
const loaded = "document.querySelectorAll('main img, main script').length";

const receiver = `0:${'7c'.repeat(32)}`;

describe.skipIf(skipLoudly('missing' in found, { what: 'explorer in a browser', why }))(
  'the explorer in chromium',
  () => {
    let service: ServiceProcess;
    let browser: Browser;
    let page: Page;
    /** Errors that a page wrote to its console: a refusal of the policy, a missing file, an exception. */
    const complaints: string[] = [];
    /** Things of the demonstration that the network begins with. */
    let transfer: Action;
    let trace: Trace;

    beforeAll(async () => {
      service = await startService(['--block-time', 'on-demand', '--index']);
      browser = await ('launch' in found ? found.launch() : Promise.reject(new Error(why)));
      page = await browser.newPage();
      page.on('console', (entry) => {
        if (entry.type() === 'error') complaints.push(entry.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      // The demonstration is interpreted a moment after its blocks are indexed.
      await vi.waitFor(
        async () => {
          const { actions } = await v3<{ actions: Action[] }>('actions?action_type=jetton_transfer&limit=1&sort=asc');
          const [first] = actions;
          if (first === undefined) throw new Error('no jetton transfer is interpreted yet');
          transfer = first;
        },
        { timeout: 60_000, interval: 200 },
      );
      const named = encodeURIComponent(transfer.trace_id ?? '');
      const { traces } = await v3<{ traces: Trace[] }>(`traces?include_actions=true&trace_id=${named}`);
      trace = traces[0]!;
    });
    afterAll(async () => {
      await browser?.close();
      await service?.stop('SIGKILL');
    });

    const v3 = <T>(path: string): Promise<T> => readV3<T>(service, path);

    async function fund(address: string, amount: string): Promise<void> {
      const body = JSON.stringify({ address, amount });
      const headers = { 'content-type': 'application/json' };
      expect((await fetch(`${service.url}/faucet`, { method: 'POST', headers, body })).status).toBe(200);
    }

    const open = (path: string): Promise<unknown> => page.goto(`${service.url}${path}`);
    const text = async (): Promise<string> => (await page.evaluate<string>('document.body.innerText')) ?? '';

    /** Everything that the demonstration has, one path a page. */
    function pages(): Record<string, string> {
      const [hash = ''] = trace.transactions_order ?? [];
      const { block_ref: at } = trace.transactions![hash]!;
      const owner = String(transfer.details['sender']);
      return {
        home: paths.home,
        search: paths.search('no-such-thing.ton'),
        account: paths.account(owner),
        tokens: paths.account(owner, 'tokens'),
        trace: paths.trace(trace.trace_id),
        transaction: paths.transaction(hash),
        block: paths.block(at.workchain, at.shard, at.seqno),
        config: paths.config,
        emulate: paths.emulate,
        unknown: '/explorer/nothing',
      };
    }

    /** Pages that ask the API; a few of them in a quick run. */
    const askingPages = (): readonly (readonly [string, string])[] =>
      someOf(
        Object.entries(pages()).filter(([name]) => !['emulate', 'unknown'].includes(name)),
        3,
      );

    /** Waits until a page has drawn what it loads. */
    async function settled(): Promise<void> {
      await page.waitForSelector('main h1');
      await expect.poll(() => page.evaluate<number>("document.querySelectorAll('.loading').length"), patient).toBe(0);
    }

    describe('shows the same as the API', () => {
      it('for an account: its balance', async () => {
        const owner = String(transfer.details['sender']);
        const { accounts } = await v3<{ accounts: { balance: string }[] }>(`accountStates?address=${owner}`);
        await open(paths.account(owner));
        await expect.poll(text, patient).toContain(formatTon(accounts[0]!.balance));
      });

      it('for a transaction: its fees, gas and account', async () => {
        const [hash = ''] = trace.transactions_order ?? [];
        const transaction = trace.transactions![hash] as Transaction;
        await open(paths.transaction(hash));
        await expect.poll(text, patient).toContain(formatTon(transaction.total_fees));
        await expect.poll(text, patient).toContain(formatCount(transaction.description.compute_ph?.gas_used ?? ''));
      });

      it('for a trace: a box for each transaction, and its actions in words', async () => {
        await open(paths.trace(trace.trace_id));
        await expect.poll(text, patient).toContain('Jetton transfer');
        const boxes = await page.evaluate<number>("document.querySelectorAll('[role=treeitem]').length");
        expect(boxes).toBe(trace.transactions_order?.length);
      });

      it('for a block: its transactions', async () => {
        const { blocks } = await v3<{ blocks: Block[] }>('blocks?workchain=0&limit=1&sort=desc');
        const { workchain, shard, seqno, tx_count: count } = blocks[0]!;
        const named = `transactions?workchain=${workchain}&shard=${shard}&seqno=${seqno}`;
        const { transactions } = await v3<{ transactions: Transaction[] }>(named);
        expect(transactions).toHaveLength(count ?? -1);
        await open(paths.block(workchain, shard, seqno));
        for (const { hash } of transactions) {
          await expect.poll(() => page.content()).toContain(paths.transaction(hash).replaceAll('&', '&amp;'));
        }
      });
    });

    it('home shows the newest masterchain block as the head, and blocks by seqno', async () => {
      await open(paths.home);
      await page.waitForSelector('main table a[href*="/block/-1:"]');
      const shown = await page.evaluate<string[]>(
        '[...document.querySelectorAll(\'main a[href*="/block/-1:"]\')].map(({ textContent }) => textContent)',
      );
      const seqnos = shown.map((one) => Number(one.split(':')[2]));
      expect(seqnos.length).toBeGreaterThan(5);
      expect(seqnos.slice(1)).toEqual(seqnos.slice(1).toSorted((one, other) => other - one));
      expect(seqnos[0]).toBe(seqnos[1]);
    });

    it('a masterchain block shows the weight of its signers', async () => {
      await open(paths.block(-1, '8000000000000000', 3));
      await expect.poll(text, patient).toContain('1 of 1 masterchain validators');
      await expect.poll(text, patient).toContain('(100.00 %)');
    });

    it('a link to a transaction of a trace selects it in the picture', async () => {
      const second = trace.transactions_order?.[1] ?? '';
      await open(paths.trace(trace.trace_id, second));
      const selected = "document.querySelector('[aria-selected=true]')?.getAttribute('aria-level')";
      await expect.poll(() => page.evaluate<string>(selected), patient).toBe('2');
      await page.waitForSelector(`section a[href="${paths.transaction(second)}"]`);
    });

    it('a hash after 0x opens its trace and its transaction, and search finds it', async () => {
      const prefixed = `0x${Buffer.from(trace.trace_id, 'base64').toString('hex')}`;
      await open(paths.trace(prefixed));
      await expect.poll(text, patient).toContain('Jetton transfer');
      await open(paths.transaction(prefixed));
      await expect.poll(text, patient).toContain('Whole trace');
      await open(paths.search(prefixed));
      await expect.poll(() => new URL(page.url()).pathname, patient).toContain('/explorer/tx/');
    });

    it('names its page in the title of the tab', async () => {
      await open(paths.config);
      await expect.poll(() => page.evaluate('document.title'), patient).toBe('Configuration · Tonplane explorer');
      await open(paths.block(-1, '8000000000000000', 3));
      await expect
        .poll(() => page.evaluate('document.title'), patient)
        .toBe('Block -1:8000000000000000:3 · Tonplane explorer');
    });

    it.each([
      ['a raw address', () => String(transfer.details['sender']), '/explorer/account/'],
      ['a hash of a transaction', () => trace.transactions_order?.[1] ?? '', '/explorer/tx/'],
      ['an external message', () => trace.external_hash ?? '', '/explorer/trace/'],
      ['a block', () => '(-1,8000000000000000,3)', '/explorer/block/'],
      ['a domain', () => 'tonplane.ton', '/explorer/account/'],
    ])('search opens %s', async (_what, wanted, path) => {
      await open(paths.home);
      await page.fill('input[name=q]', wanted());
      await page.click('form.search button');
      await expect.poll(() => new URL(page.url()).pathname).toContain(path);
    });

    it('search that finds nothing says where it looked', async () => {
      await open(paths.search('ab'.repeat(32)));
      await expect.poll(text, patient).toContain('Nothing found');
      for (const place of ['transactions by hash', 'messages by hash', 'traces by hash', 'pending traces'])
        await expect.poll(text, patient).toContain(place);
    });

    describe('is live', () => {
      it('on the page of an account: a new transaction comes without a reload', async () => {
        await open(paths.account(receiver, 'transactions'));
        await expect.poll(text, patient).toContain('Live');
        await fund(receiver, '12.345678901');
        await expect.poll(text, patient).toContain('12.345678901');
      });

      it('at home: a new transfer comes without a reload', async () => {
        await open(paths.home);
        await expect.poll(text, patient).toContain('Live');
        await fund(receiver, '1.000000077');
        await expect.poll(text, patient).toContain('1.000000077');
      });
    });

    it('is used by the keyboard alone: skip link, search, and the tree of a trace', async () => {
      await open(paths.trace(trace.trace_id));
      await settled();
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.className')).toBe('skip');
      const focusTree = 'document.querySelector(\'[role=treeitem][tabindex="0"]\').focus()';
      await page.evaluate(focusTree);
      await page.keyboard.press('ArrowRight');
      const second = trace.transactions![trace.transactions_order![1]!]!;
      await expect
        .poll(() => page.evaluate<string>("document.querySelector('[aria-selected=true]').getAttribute('aria-level')"))
        .toBe('2');
      await expect.poll(() => page.evaluate<string>("document.activeElement.getAttribute('aria-level')")).toBe('2');
      await expect.poll(text, patient).toContain(formatTon(second.total_fees));
    });

    describe.each(someOf(['light', 'dark'] as const, 1))('in the %s theme', (colorScheme) => {
      it('has no fault of accessibility that axe knows, and no word outside the window of a phone', async () => {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await page.setViewportSize({ width: 390, height: 844 });
        const faults: Record<string, unknown> = {};
        for (const [name, path] of spreadOf(Object.entries(pages()), 3)) {
          await open(path);
          await settled();
          await page.evaluate(`${axe};0`);
          const run = `axe.run({ runOnly: ${JSON.stringify(rules)} }).then(({ violations }) =>
          violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, failureSummary }) => html.slice(0, 160) + ' ' + failureSummary).slice(0, 3).join(' | ')))`;
          const violations = await page.evaluate<string[]>(run);
          const pixels = await page.evaluate<number>(width);
          if (violations.length > 0 || pixels > 390) faults[name] = { violations, pixels };
        }
        expect(faults).toEqual({});
        await page.setViewportSize({ width: 1280, height: 900 });
      });
    });

    it('asks no other host and breaks no rule of its policy on any page', async () => {
      complaints.length = 0;
      for (const path of spreadOf(Object.values(pages()), 3)) {
        await open(path);
        await settled();
      }
      expect(complaints).toEqual([]);
    });

    describe('when the API fails', () => {
      const calls = '*/api/v*/*';

      const failures: readonly (readonly [number, string, Record<string, string>])[] = [
        [429, 'Too many requests', { 'retry-after': '1' }],
        [503, 'overloaded or not ready', {}],
        [504, 'took too long', {}],
        [0, 'does not answer', {}],
      ];

      it.each(someOf(failures, 1))(
        'with %i every page says so and recovers by itself',
        async (status, words, headers) => {
          for (const [name, path] of askingPages()) {
            const end = await intercept(
              page,
              calls,
              status === 0 ? (route) => route.abort() : refusal(status, headers),
            );
            await open(path);
            await expect.poll(text, patient).toContain(words);
            await end();
            await expect
              .poll(() => page.evaluate<number>("document.querySelectorAll('[role=alert]').length"), {
                ...patient,
                message: name,
              })
              .toBe(0);
          }
        },
      );

      it('with 401 every page asks for the key', async () => {
        const end = await intercept(page, calls, refusal(401));
        for (const [name, path] of askingPages()) {
          await open(path);
          await expect
            .poll(() => page.evaluate<number>("document.querySelectorAll('input[name=key]').length"), {
              ...patient,
              message: name,
            })
            .toBeGreaterThan(0);
        }
        await end();
      });

      it('with 401 a page asks for the key, and uses it', async () => {
        const keys: string[] = [];
        const end = await intercept(page, calls, async (route) => {
          const key = route.request().headers()['x-api-key'];
          if (key === undefined) return refusal(401)(route);
          keys.push(key);
          return route.continue();
        });
        await open(paths.trace(trace.trace_id));
        await expect.poll(text, patient).toContain('wants a valid key');
        await page.fill('input[name=key]', service.key);
        await page.click('form.key button');
        await expect.poll(text, patient).toContain('Jetton transfer');
        expect(new Set(keys)).toEqual(new Set([service.key]));
        await end();
        await page.evaluate('sessionStorage.clear()');
      });
    });

    it('when the API is slow a page says that it loads, and shows the rest when it comes', async () => {
      const { promise: later, resolve: release } = Promise.withResolvers<void>();
      const end = await intercept(page, '*/api/v3/*', async (route) => {
        await later;
        await route.continue();
      });
      await open(paths.trace(trace.trace_id));
      await expect.poll(text, patient).toContain('Loading');
      release();
      await expect.poll(text, patient).toContain('Jetton transfer');
      await end();
      expect(await text()).not.toContain('Loading');
    });

    it.each([
      ['in a row', inRow(4000)],
      ['beside each other', besideEachOther(3999)],
    ])(
      'a trace of 4,000 transactions %s is drawn by its part in view, and is walked by the keyboard',
      async (_how, made) => {
        const end = await intercept(page, '*/api/v3/traces*', async (route) => {
          const { transactions } = made;
          const large = {
            ...trace,
            trace: 0,
            transactions,
            transactions_order: Object.keys(transactions),
            actions: [],
          };
          const answer = JSON.stringify({ traces: [large], address_book: {}, metadata: {} });
          const body = answer.replace('"trace":0', `"trace":${made.json}`);
          await route.fulfill({ status: 200, contentType: 'application/json', body });
        });
        await open(paths.trace(trace.trace_id));
        await page.waitForSelector('[role=treeitem]');
        const boxes = await page.evaluate<number>("document.querySelectorAll('[role=treeitem]').length");
        expect(boxes).toBeGreaterThan(1);
        expect(boxes).toBeLessThan(100);
        await page.evaluate('document.querySelector(\'[role=treeitem][tabindex="0"]\').focus()');
        await page.keyboard.press('ArrowRight');
        await expect.poll(() => page.evaluate<string>("document.activeElement.getAttribute('aria-level')")).toBe('2');
        await end();
      },
    );

    describe('with hostile data', () => {
      const hostile = [
        '<img src=x onerror="document.title=`owned`">',
        '<script>document.title="owned"</script>',
        '\u202Egpj.exe\u2066',
        'W'.repeat(10_000),
        '\u0000\u0007\u001b[31m',
        'data:image/svg+xml,<svg onload="document.title=`owned`"/>',
        'javascript:document.title="owned"',
      ];

      it.each(someOf(hostile, 1).map((one, index) => [index, one] as const))(
        'nothing runs and nothing breaks the layout: text %i',
        async (_index, one) => {
          const end = await intercept(page, '*/api/v3/*', async (route) => {
            const response = await route.fetch();
            const body = JSON.stringify(poisoned(JSON.parse(await response.text()), '', one));
            await route.fulfill({ status: response.status, contentType: 'application/json', body });
          });
          await page.setViewportSize({ width: 390, height: 844 });
          for (const [name, path] of someOf(Object.entries(pages()), 2)) {
            await open(path);
            await settled();
            expect({ name, title: await page.evaluate<string>('document.title') }).not.toMatchObject({
              title: 'owned',
            });
            expect({ name, width: await page.evaluate<number>(width) }).toEqual({ name, width: 390 });
            const links =
              "[...document.links].filter(({ protocol }) => !['http:', 'https:'].includes(protocol)).length";
            expect({ name, count: await page.evaluate<number>(links) }).toEqual({ name, count: 0 });
            expect({ name, count: await page.evaluate<number>(loaded) }).toEqual({ name, count: 0 });
          }
          await end();
          await page.setViewportSize({ width: 1280, height: 900 });
        },
      );
    });

    describe('the page of the private network', () => {
      it('acts on the internal port alone, and asks before what cannot be undone', async () => {
        await open(paths.network);
        await page.waitForSelector(`a[href^="${service.internalUrl}"]`);
        await page.goto(`${service.internalUrl}/explorer/network`);
        await expect.poll(text, patient).toContain('Set next block time');
        const { seqno } = await devStatus(service);
        await page.click('form[aria-label="Mine"] button');
        await expect.poll(async () => (await devStatus(service)).seqno).toBeGreaterThan(seqno);
        const before = await devStatus(service);
        await page.fill('form[aria-label="Advance"] input[name=seconds]', '3600');
        await page.click('form[aria-label="Advance"] button[type=submit]');
        await page.waitForSelector('dialog[open]');
        expect((await devStatus(service)).aheadSeconds).toBe(before.aheadSeconds);
        await page.click('dialog[open] button');
        await expect.poll(async () => (await devStatus(service)).aheadSeconds).toBeGreaterThanOrEqual(3600);
      });

      it('shows which field of a method is wrong', async () => {
        await page.goto(`${service.internalUrl}/explorer/network`);
        await expect.poll(text, patient).toContain('Mint jetton');
        await page.fill('form[aria-label="Fund"] input[name=address]', 'nobody');
        await page.fill('form[aria-label="Fund"] input[name=amount]', '1');
        await page.click('form[aria-label="Fund"] button[type=submit]');
        await expect.poll(text, patient).toContain('address: expected an account address');
      });
    });
  },
);

const refusal =
  (status: number, headers: Record<string, string> = {}) =>
  (route: Route) =>
    route.fulfill({
      status,
      contentType: 'application/json',
      headers,
      body: JSON.stringify({ error: `refused with ${status}` }),
    });

/** Puts a hostile text into every text of an answer that a contract or a caller writes. */
function poisoned(value: unknown, name: string, one: string): unknown {
  if (Array.isArray(value)) return value.map((item) => poisoned(item, name, one));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, poisoned(item, key, one)]));
  }
  const written = ['name', 'symbol', 'description', 'image', 'comment', 'domain', 'decoded_opcode', 'text', 'uri'];
  return typeof value === 'string' && written.includes(name) ? one : value;
}

async function devStatus(service: ServiceProcess): Promise<{ seqno: number; aheadSeconds: number }> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'dev_status' });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${service.internalUrl}/dev`, { method: 'POST', headers, body });
  return ((await response.json()) as { result: { seqno: number; aheadSeconds: number } }).result;
}

/** A trace for an answer. `json` is the text of its tree: a serialiser cannot write thousands of levels. */
type MadeTrace = { readonly json: string; readonly transactions: Readonly<Record<string, Transaction>> };

function inRow(length: number): MadeTrace {
  const { transactions } = chainOf(length);
  const opening = Object.keys(transactions).map((hash) => `{"tx_hash":"${hash}","children":[`);
  return { json: `${opening.join('')}${']}'.repeat(length)}`, transactions };
}

function besideEachOther(children: number): MadeTrace {
  const { trace, transactions } = fanOf(children);
  return { json: JSON.stringify(trace), transactions };
}
