import { html } from '../html.ts';
import type { Route } from '../paths.ts';

export function NetworkPage({ route }: { readonly route: Extract<Route, { page: 'network' }> }) {
  return html`<h1>${route.page}</h1>`;
}
