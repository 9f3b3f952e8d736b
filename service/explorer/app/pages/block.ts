import { html } from '../html.ts';
import type { Route } from '../paths.ts';

export function BlockPage({ route }: { readonly route: Extract<Route, { page: 'block' }> }) {
  return html`<h1>${route.page}</h1>`;
}
