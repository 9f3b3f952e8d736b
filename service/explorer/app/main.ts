import { render } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';

import { createApi } from './api.ts';
import { ApplicationProvider, type Application } from './context.ts';
import { safeText, shorten } from './format.ts';
import { html } from './html.ts';
import { AccountPage } from './pages/account.ts';
import { BlockPage } from './pages/block.ts';
import { ConfigPage } from './pages/config.ts';
import { EmulatePage } from './pages/emulate.ts';
import { HomePage } from './pages/home.ts';
import { NetworkPage } from './pages/network.ts';
import { SearchPage } from './pages/search.ts';
import { TracePage } from './pages/trace.ts';
import { TransactionPage } from './pages/transaction.ts';
import { UnknownPage } from './pages/unknown.ts';
import { SearchForm } from './parts/search-form.ts';
import { parseRoute, paths, type Route } from './paths.ts';
import { apiKey, loadSettings, takeKey, type Settings } from './settings.ts';
import { words } from './texts.ts';

const pages = {
  home: HomePage,
  search: SearchPage,
  account: AccountPage,
  trace: TracePage,
  transaction: TransactionPage,
  block: BlockPage,
  config: ConfigPage,
  emulate: EmulatePage,
  network: NetworkPage,
  unknown: UnknownPage,
} as const;

const here = (): Route => parseRoute(location.pathname, location.search);

function Explorer({ settings }: { readonly settings: Settings }) {
  const [route, setRoute] = useState(here);
  const application = useMemo<Application>(
    () => ({
      api: createApi(settings.dev?.apiUrl ?? '', apiKey.read),
      settings,
      open(path, { replaces } = { replaces: false }) {
        if (replaces) history.replaceState(undefined, '', path);
        else history.pushState(undefined, '', path);
        setRoute(here());
        scrollTo(0, 0);
        document.querySelector<HTMLElement>('main')?.focus();
      },
    }),
    [settings],
  );
  useEffect(() => {
    const onBack = (): void => setRoute(here());
    const onClick = (event: MouseEvent): void => {
      const path = ownPath(event);
      if (path === undefined) return;
      event.preventDefault();
      application.open(path);
    };
    addEventListener('popstate', onBack);
    document.addEventListener('click', onClick);
    return () => {
      removeEventListener('popstate', onBack);
      document.removeEventListener('click', onClick);
    };
  }, [application]);
  useEffect(() => {
    document.title = words.title(titleOf(route));
  }, [route]);
  const Page = pages[route.page];
  const address = `${location.pathname}${location.search}`;
  return html`<${ApplicationProvider} value=${application}>
    <a class="skip" href="#content">${words.nav.skip}</a>
    <header>
      <${Navigation} settings=${settings} current=${route.page} />
      <${SearchForm} text=${route.page === 'search' ? route.text : ''} key=${address} />
    </header>
    <main id="content" tabindex="-1"><${Page} route=${route} key=${routeKey(route)} /></main>
  <//>`;
}

/** A page of another thing begins with no state. Another tab, or another transaction of the same trace, continues. */
function routeKey(route: Route): string {
  const { tab: _tab, transaction: _transaction, ...thing } = { tab: '', transaction: '', ...route };
  return JSON.stringify(thing);
}

/** Title of a page for tabs and bookmarks. */
function titleOf(route: Route): string {
  switch (route.page) {
    case 'account':
      return `${words.account.title} ${shortOf(route.address)}`;
    case 'trace':
      return `${words.trace.title} ${shortOf(route.hash)}`;
    case 'transaction':
      return `${words.transaction.title} ${shortOf(route.hash)}`;
    case 'block':
      return `${words.columns.seqno} ${route.workchain}:${route.shard}:${route.seqno}`;
    default:
      return titles[route.page];
  }
}

const titles = {
  home: words.home.title,
  search: words.search.title,
  config: words.config.title,
  emulate: words.emulate.title,
  network: words.network.title,
  unknown: words.unknown.title,
};

const shortOf = (text: string): string => shorten(safeText(text, 100));

function Navigation({ settings, current }: { readonly settings: Settings; readonly current: string }) {
  const link = (name: string, href: string, title: string) =>
    html`<a href=${href} aria-current=${current === name ? 'page' : undefined}>${title}</a>`;
  return html`<nav class="main" aria-label=${words.nav.label}>
    ${link('home', paths.home, words.nav.home)}
    <span class="network">${settings.network}</span>
    ${link('config', paths.config, words.nav.config)}
    ${settings.surfaces.includes('emulate') ? link('emulate', paths.emulate, words.nav.emulate) : null}
    ${settings.networkPage === undefined ? null : link('network', settings.networkPage, words.nav.network)}
    ${settings.startPage === undefined ? null : html`<a href=${settings.startPage}>${words.nav.start}</a>`}
    <a href=${settings.documents ?? '/'}>${words.nav.documents}</a>
  </nav>`;
}

/** The path of a click on a link inside the explorer; undefined for a click that the browser handles. */
function ownPath(event: MouseEvent): string | undefined {
  if (event.defaultPrevented || event.button !== 0) return undefined;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return undefined;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (link === null || link.target !== '' || link.hasAttribute('download')) return undefined;
  const url = new URL(link.href, location.href);
  const isOwn = url.origin === location.origin && /^\/explorer(\/|$)/.test(url.pathname);
  // A link within the page moves the focus: the browser does so.
  if (!isOwn || (url.hash !== '' && url.pathname === location.pathname)) return undefined;
  return `${url.pathname}${url.search}`;
}

const place = document.getElementById('app');
if (place !== null) {
  try {
    const settings = await loadSettings();
    await takeKey(settings);
    // The shell says that the page loads. The first drawing takes its place.
    place.replaceChildren();
    render(html`<${Explorer} settings=${settings} />`, place);
  } catch (error) {
    place.textContent = `${words.load.away} ${String(error)}`;
  }
}
