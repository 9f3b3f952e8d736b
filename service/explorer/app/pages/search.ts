import { useEffect } from 'preact/hooks';

import { useApplication } from '../context.ts';
import { safeText } from '../format.ts';
import { html } from '../html.ts';
import { Loaded } from '../parts/loaded.ts';
import type { Route } from '../paths.ts';
import { formsOf } from '../search.ts';
import { placesOf, type Found } from '../search-places.ts';
import { useLoad } from '../use-load.ts';
import { words } from '../texts.ts';

type Outcome = { readonly found: readonly Found[]; readonly looked: readonly string[] };

/** Looks in every place that fits the form of the text. A single thing opens at once. */
export function SearchPage({ route }: { readonly route: Extract<Route, { page: 'search' }> }) {
  const { api, open } = useApplication();
  const { text } = route;
  const load = useLoad<Outcome>(text, async (signal) => {
    const places = formsOf(text).flatMap((form) => placesOf(api, form));
    const found = await Promise.all(places.map((place) => place.find(signal)));
    return { found: distinct(found), looked: places.map(({ name }) => name) };
  });
  const [only, ...more] = load.value?.found ?? [];
  useEffect(() => {
    if (only !== undefined && more.length === 0) open(only.href, { replaces: true });
  }, [only?.href, more.length]);
  const shown = safeText(text, 200);
  if (text.trim() === '')
    return html`<h1>${words.search.title}</h1>
      <p>${words.search.empty}</p>`;
  return html`<h1>${words.search.searching(shown)}</h1>
    <${Loaded} load=${load} draw=${(value: Outcome) => html`<${Results} text=${shown} outcome=${value} />`} />`;
}

/** A hash of a transaction may also be the hash of a trace: each place has its own link. */
function distinct(found: readonly (Found | undefined)[]): Found[] {
  const byLink = new Map<string, Found>();
  for (const one of found) if (one !== undefined && !byLink.has(one.href)) byLink.set(one.href, one);
  return [...byLink.values()];
}

function Results({ text, outcome }: { readonly text: string; readonly outcome: Outcome }) {
  const { found, looked } = outcome;
  if (found.length > 0) {
    return html`<p>${words.search.found}</p>
      <ul>
        ${found.map(({ what, text: name, href }) => html`<li key=${href}>${what}: <a class="mono" href=${href}>${name}</a></li>`)}
      </ul>`;
  }
  if (looked.length === 0)
    return html`<p>${words.search.none(text)}</p>
      <p>${words.search.notForm}</p>`;
  return html`<p>${words.search.none(text)}</p>
    <p>${words.search.looked}</p>
    <ul>
      ${looked.map((place) => html`<li key=${place}>${place}</li>`)}
    </ul>`;
}
