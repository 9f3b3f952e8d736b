import { useState } from 'preact/hooks';

import { html } from '../html.ts';
import { words } from '../texts.ts';

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
    <svg viewBox="0 0 12 12" aria-hidden="true">
      <path d=${copied ? 'M2 6.5 5 9.5 10 3' : 'M4 4h6.5v6.5H4zM2 8H1.5V1.5H8V2'} />
    </svg>
  </button>`;
}
