import { html } from '../html.ts';
import type { Route } from '../paths.ts';

export function TracePage({ route }: { readonly route: Extract<Route, { page: 'trace' }> }) {
  return html`<h1>${route.page}</h1>`;
}
