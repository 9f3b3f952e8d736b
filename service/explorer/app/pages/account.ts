import { html } from '../html.ts';
import type { Route } from '../paths.ts';

export function AccountPage({ route }: { readonly route: Extract<Route, { page: 'account' }> }) {
  return html`<h1>${route.page}</h1>`;
}
