import { safeText } from '../format.ts';
import { html } from '../html.ts';
import type { Route } from '../paths.ts';
import { words } from '../texts.ts';

export function UnknownPage({ route }: { readonly route: Extract<Route, { page: 'unknown' }> }) {
  return html`<h1>${words.unknown.title}</h1>
    <p>${words.unknown.text(safeText(route.path, 200))}</p>`;
}
