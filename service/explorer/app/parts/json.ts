import { html } from '../html.ts';
import { words } from '../texts.ts';

/** Characters of JSON that a page shows: a trace of thousands of transactions has megabytes. */
const TEXT_MAX = 2_000_000;

/** A value as JSON, folded. */
export function Json({ value, title = words.parts.json }: { readonly value: unknown; readonly title?: string }) {
  return html`<details class="json">
    <summary>${title}</summary>
    <pre tabindex="0">${JSON.stringify(value, undefined, 2).slice(0, TEXT_MAX)}</pre>
  </details>`;
}
