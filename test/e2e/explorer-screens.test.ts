import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { describeDev } from '#service/devchain/dev/openapi.ts';
import type { Action, Block, Trace } from '#service/explorer/app/objects.ts';
import { paths } from '#service/explorer/app/paths.ts';
import { statusOf } from '#test/support/api-processes.ts';
import { findBrowser, intercept, type Browser, type Page } from '#test/support/browser.ts';
import { startService, type ServiceProcess } from '#test/support/service-process.ts';
import { readV3 } from '#test/support/service-v3.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { someOf } from '#test/support/volume.ts';

/** Pictures of each page as a person approved them. `TONPLANE_DRAW=1` writes them again. */
const folder = join(import.meta.dirname, '../vectors/explorer');

const isDrawing = process.env['TONPLANE_DRAW'] === '1';

/** Part of the pixels that may differ: another release of the browser draws letters a little differently. */
const DIFFERENCE_MAX = 0.02;

/** Looks at a page that differs from its picture. */
const LOOKS_MAX = 6;

const widths = [390, 1280, 1920] as const;
const themes = ['light', 'dark'] as const;

/** Blocks that the index and its interpreter have not done yet; undefined until they are counted. */
type IndexProgress = {
  readonly lagBlocks?: number;
  readonly remainingBlocks?: number;
  readonly interpreter: { readonly remainingBlocks?: number };
};

const found = await findBrowser();
const why = 'missing' in found ? found.missing : '';

describe.skipIf(skipLoudly('missing' in found, { what: 'pictures of the explorer', why }))(
  'the explorer on the recorded network looks as approved',
  () => {
    let service: ServiceProcess;
    let browser: Browser;
    let page: Page;
    let pages: Readonly<Record<string, string>>;

    beforeAll(async () => {
      service = await startService(['--recorded', '--pace', '0', '--index']);
      browser = await ('launch' in found ? found.launch() : Promise.reject(new Error(why)));
      const context = await browser.newContext({ timezoneId: 'UTC', locale: 'en' });
      page = await context.newPage();
      await wholeRecording();
      const trace = await deployment();
      const [hash = ''] = trace.transactions_order ?? [];
      const { account } = trace.transactions![hash]!;
      const { blocks } = await v3<{ blocks: Block[] }>('blocks?workchain=-1&limit=1&sort=desc');
      const { workchain, shard, seqno, gen_utime: time } = blocks[0]!;
      await page.clock.setFixedTime(new Date((Number(time) + 60) * 1000));
      pages = {
        home: paths.home,
        search: paths.search('nothing.of.this.name'),
        account: paths.account(account),
        trace: paths.trace(trace.trace_id),
        transaction: paths.transaction(hash),
        block: paths.block(workchain, shard, seqno),
        config: paths.config,
        emulate: paths.emulate,
        network: paths.network,
      };
    });
    afterAll(async () => {
      await browser?.close();
      await service?.stop('SIGKILL');
    });

    const v3 = <T>(path: string): Promise<T> => readV3<T>(service, path);

    /** Waits until the index has interpreted the whole recording, and two looks find the same. The service counts its blocks from time to time. */
    async function wholeRecording(): Promise<void> {
      let known = '';
      await vi.waitFor(
        async () => {
          const { actions } = await v3<{ actions: Action[] }>('actions?limit=20&sort=desc');
          const { last } = await v3<{ last: Block }>('masterchainInfo');
          const { lagBlocks, remainingBlocks, interpreter } = (await statusOf(service))['index'] as IndexProgress;
          const left = [lagBlocks, remainingBlocks, interpreter.remainingBlocks];
          const now = JSON.stringify([last.seqno, actions.map(({ action_id }) => action_id)]);
          const isSettled = left.every((count) => count === 0) && now === known && actions.length > 0;
          known = now;
          if (!isSettled) throw new Error('the recording is not interpreted yet');
        },
        { timeout: 240_000, interval: 5000 },
      );
    }

    /** The newest trace that deploys a contract. */
    async function deployment(): Promise<Trace> {
      const { actions } = await v3<{ actions: Action[] }>('actions?action_type=contract_deploy&limit=1&sort=desc');
      const named = encodeURIComponent(actions[0]?.trace_id ?? '');
      const { traces } = await v3<{ traces: Trace[] }>(`traces?include_actions=true&trace_id=${named}`);
      return traces[0]!;
    }

    const all = widths.flatMap((width) => themes.map((theme) => [theme, width] as const));

    it.each(isDrawing ? all : someOf(all, 2))('in the %s theme at %i pixels', async (theme, width) => {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 900 });
      const differences: Record<string, number> = {};
      for (const [name, path] of Object.entries(pages)) {
        const showRecordedNetwork = name === 'network' ? await showPrivateNetwork(page) : undefined;
        await page.goto(`${service.url}${path}`);
        await page.waitForSelector('main h1');
        await expect.poll(() => page.evaluate<number>("document.querySelectorAll('.loading').length")).toBe(0);
        await expect.poll(() => page.evaluate<string>('document.body.innerText')).not.toContain('Connecting');
        const file = join(folder, `${name}-${width}-${theme}.png`);
        const difference = await differenceAtRest(file, page);
        if (difference > DIFFERENCE_MAX) differences[name] = difference;
        await showRecordedNetwork?.();
      }
      expect(differences).toEqual({});
    });
  },
);

/** Part of the pixels that differ when the browser has drawn the page. A busy machine draws late, so a page has some looks. */
async function differenceAtRest(file: string, page: Page): Promise<number> {
  for (let looks = 1; ; looks++) {
    const difference = compare(file, await page.screenshot({}));
    if (difference <= DIFFERENCE_MAX || looks === LOOKS_MAX) return difference;
    await new Promise((done) => setTimeout(done, 500));
  }
}

/** Answers of a private network that stands still: block, clock and version are the same in each run. */
const privateNetwork: Readonly<Record<string, unknown>> = {
  '*/explorer/settings.json': {
    network: 'private network',
    version: '1.2.3',
    surfaces: ['v2', 'v3', 'emulate', 'stream', 'explorer'],
    networkPage: paths.network,
    startPage: '/start',
    documents: '/docs',
    dev: { apiUrl: '' },
  },
  '*/openapi.json': describeDev('1.2.3'),
  '*/accounts.json': [],
  '*/dev': {
    jsonrpc: '2.0',
    id: 1,
    // One answer to `dev_status` and to `dev_snapshots`: each reader takes its own fields.
    result: {
      seqno: 1234,
      utime: 1_795_000_000,
      aheadSeconds: 3600,
      waitingMessages: 2,
      snapshots: [{ snapshot: 1, name: 'before the deployment', seqno: 1200 }],
    },
  },
};

/** The recorded network has no page that acts on it. Returns what shows the recorded network again. */
async function showPrivateNetwork(page: Page): Promise<() => Promise<unknown>> {
  const ends = await Promise.all(
    Object.entries(privateNetwork).map(([pattern, answer]) => {
      const body = JSON.stringify(answer);
      return intercept(page, pattern, (route) => route.fulfill({ status: 200, contentType: 'application/json', body }));
    }),
  );
  return () => Promise.all(ends.map((end) => end()));
}

/** Part of the pixels that differ from the stored picture; 1 for another size. Writes the picture when asked to draw. */
function compare(file: string, shot: Buffer): number {
  if (isDrawing) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, shot);
  }
  if (!existsSync(file)) throw new Error(`there is no picture ${file}: TONPLANE_DRAW=1 draws it`);
  const stored = PNG.sync.read(readFileSync(file));
  const now = PNG.sync.read(shot);
  if (stored.width !== now.width || stored.height !== now.height) return 1;
  const count = pixelmatch(stored.data, now.data, undefined, now.width, now.height, { threshold: 0.15 });
  return count / (now.width * now.height);
}
