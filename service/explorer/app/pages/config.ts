import { html } from '../html.ts';
import type { Route } from '../paths.ts';

export function ConfigPage({ route }: { readonly route: Extract<Route, { page: 'config' }> }) {
  return html`<h1>${route.page}</h1>`;
}
