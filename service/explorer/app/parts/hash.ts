import { shorten } from '../format.ts';
import { html } from '../html.ts';
import { Copy } from './copy.ts';

/** A hash, short with its whole text in the title and in the clipboard; a link when `href` is given. */
export function Hash({
  hash,
  href,
  isWhole = false,
}: {
  readonly hash: string;
  readonly href?: string;
  readonly isWhole?: boolean;
}) {
  const text = isWhole ? hash : shorten(hash);
  const shown =
    href === undefined
      ? html`<span class="mono" title=${hash}>${text}</span>`
      : html`<a class="mono" href=${href} title=${hash}>${text}</a>`;
  return html`<span class="hash">${shown} <${Copy} text=${hash} thing=${hash} /></span>`;
}
