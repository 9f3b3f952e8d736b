import { html } from '../html.ts';
import type { Route } from '../paths.ts';

export function TransactionPage({ route }: { readonly route: Extract<Route, { page: 'transaction' }> }) {
  return html`<h1>${route.page}</h1>`;
}
