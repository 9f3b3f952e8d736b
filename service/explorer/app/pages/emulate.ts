import { html } from '../html.ts';
import type { Route } from '../paths.ts';

export function EmulatePage({ route }: { readonly route: Extract<Route, { page: 'emulate' }> }) {
  return html`<h1>${route.page}</h1>`;
}
