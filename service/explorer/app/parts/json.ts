import { useState } from 'preact/hooks';

import { html } from '../html.ts';
import { words } from '../texts.ts';

/** Characters of JSON that a page shows: a trace of thousands of transactions has megabytes. */
const TEXT_MAX = 2_000_000;

/** Longer JSON has no indentation: in a deep trace the spaces alone would be a hundred megabytes. */
const INDENTED_MAX = 300_000;

/** A value as JSON, folded. The text is made when a person opens it. */
export function Json({ value, title = words.parts.json }: { readonly value: unknown; readonly title?: string }) {
  const [isOpen, setIsOpen] = useState(false);
  const onToggle = (event: Event): void => setIsOpen((event.currentTarget as HTMLDetailsElement).open);
  return html`<details class="json" onToggle=${onToggle}>
    <summary>${title}</summary>
    ${isOpen ? html`<pre tabindex="0">${jsonText(value)}</pre>` : null}
  </details>`;
}

function jsonText(value: unknown): string {
  try {
    const text = JSON.stringify(value);
    return (text.length > INDENTED_MAX ? text : JSON.stringify(value, undefined, 2)).slice(0, TEXT_MAX);
  } catch (error) {
    if (error instanceof RangeError) return words.parts.tooDeep;
    throw error;
  }
}
