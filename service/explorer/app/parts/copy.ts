import { useState } from 'preact/hooks';

import { html } from '../html.ts';
import { words } from '../words.ts';

/** Milliseconds that the sign of success stays. */
const SHOWN_MS = 1500;

/** A button that puts a text into the clipboard. */
export function Copy({ text, thing }: { readonly text: string; readonly thing: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  const label = copied ? words.parts.copied : words.parts.copy(thing);
  return html`<button type="button" class="copy" aria-label=${label} title=${label} onClick=${() => void copy()}>
    ${copied ? '✓' : '⧉'}
  </button>`;
}
