import { html } from '../html.ts';
import type { Route } from '../paths.ts';

export function SearchPage({ route }: { readonly route: Extract<Route, { page: 'search' }> }) {
  return html`<h1>${route.page}</h1>`;
}
