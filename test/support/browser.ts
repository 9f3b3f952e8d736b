import { createRequire } from 'node:module';
import { join } from 'node:path';

import { ensureProgram } from './debian-package.ts';
import { installNpmPackages } from './npm-packages.ts';

/** Parts of playwright-core that tests use. */
export type Page = {
  goto(url: string): Promise<{ status(): number } | null>;
  reload(): Promise<unknown>;
  fill(selector: string, text: string): Promise<void>;
  click(selector: string): Promise<void>;
  textContent(selector: string): Promise<string | null>;
  content(): Promise<string>;
  url(): string;
  evaluate<T>(script: string): Promise<T>;
  waitForSelector(selector: string): Promise<unknown>;
  screenshot(options: { path?: string; fullPage?: boolean }): Promise<Buffer>;
  setViewportSize(size: { width: number; height: number }): Promise<void>;
  emulateMedia(options: { colorScheme?: 'light' | 'dark'; reducedMotion?: 'reduce' }): Promise<void>;
  context(): Context;
  /** Time of the page: stands still at the given moment. */
  readonly clock: { setFixedTime(time: Date): Promise<void> };
  readonly keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> };
  on(event: 'console', listener: (entry: { type(): string; text(): string }) => void): void;
  on(event: 'pageerror', listener: (error: Error) => void): void;
  on(event: 'dialog', listener: (dialog: { message(): string; dismiss(): Promise<void> }) => void): void;
  close(): Promise<void>;
};

/** A request of the page that a test answers itself. */
export type Route = {
  request(): { url(): string; method(): string; headers(): Readonly<Record<string, string>> };
  /** The answer that the page would have. */
  fetch(): Promise<Response>;
  fulfill(answer: {
    status: number;
    body: string;
    contentType?: string;
    headers?: Readonly<Record<string, string>>;
  }): Promise<void>;
  abort(): Promise<void>;
  continue(): Promise<void>;
};

export type Context = {
  newPage(): Promise<Page>;
  setOffline(offline: boolean): Promise<void>;
  /** Commands to the browser itself, about a page. */
  newCDPSession(page: Page): Promise<Session>;
  close(): Promise<void>;
};

/** A connection to the browser about a page. */
export type Session = {
  send(method: string, parameters?: object): Promise<unknown>;
  on(event: 'Fetch.requestPaused', listener: (paused: Paused) => void): void;
  detach(): Promise<void>;
};

type Paused = {
  readonly requestId: string;
  readonly request: {
    readonly url: string;
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
  };
};

export type Browser = {
  newContext(options?: { readonly timezoneId?: string; readonly locale?: string }): Promise<Context>;
  newPage(): Promise<Page>;
  close(): Promise<void>;
};

type Playwright = { chromium: { launch(options: { executablePath: string; args: string[] }): Promise<Browser> } };

/** A function that starts Debian's chromium, or why there is none. */
export async function findBrowser(): Promise<
  { readonly launch: () => Promise<Browser> } | { readonly missing: string }
> {
  const playwright = await installNpmPackages(['playwright-core@1.65.1']);
  if ('missing' in playwright) return playwright;
  if (!ensureProgram('chromium')) return { missing: 'there is no chromium in PATH, and none can be installed' };
  const { chromium } = createRequire(join(playwright.folder, 'package.json'))('playwright-core') as Playwright;
  return { launch: () => chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] }) };
}

/**
 * Lets a test answer requests of a page until it calls the returned function. The browser keeps its cache, which `page.route` of playwright
 * turns off: each page would read and compile the scripts again.
 *
 * @param pattern URL, in which `*` stands for any characters
 */
export async function intercept(
  page: Page,
  pattern: string,
  handle: (route: Route) => Promise<void>,
): Promise<() => Promise<void>> {
  const session = await page.context().newCDPSession(page);
  let isOver = false;
  session.on('Fetch.requestPaused', (paused) => {
    handle(routeOf(session, paused)).catch((error: unknown) => {
      // A page that goes, or the end of the interception, lets go of its requests.
      if (!isOver && !/Invalid InterceptionId|closed/.test(String(error))) throw error;
    });
  });
  await session.send('Fetch.enable', { patterns: [{ urlPattern: pattern }] });
  return async () => {
    isOver = true;
    await session.detach();
  };
}

function routeOf(session: Session, { requestId, request }: Paused): Route {
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const answer = async (method: string, fields: object): Promise<void> => {
    await session.send(`Fetch.${method}`, { requestId, ...fields });
  };
  return {
    request: () => ({ url: () => request.url, method: () => request.method, headers: () => headers }),
    fetch: () => fetch(request.url, { method: request.method, headers }),
    fulfill: ({ status, body, contentType, headers: more = {} }) =>
      answer('fulfillRequest', {
        responseCode: status,
        body: Buffer.from(body).toString('base64'),
        responseHeaders: Object.entries({ ...(contentType && { 'content-type': contentType }), ...more }).map(
          ([name, value]) => ({ name, value }),
        ),
      }),
    abort: () => answer('failRequest', { errorReason: 'Failed' }),
    continue: () => answer('continueRequest', {}),
  };
}
