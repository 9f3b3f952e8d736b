import { html } from '../html.ts';

export function HomePage() {
  return html`<h1>home</h1>`;
}
