import { formatAge, formatTime } from '../format.ts';
import { html } from '../html.ts';
import { words } from '../texts.ts';

/** A moment: local time with UTC in its title, and its age when wanted. @param at seconds since 1970 */
export function Time({ at, withAge = false }: { readonly at: number; readonly withAge?: boolean }) {
  const { local, utc } = formatTime(at);
  const age = withAge ? html` <span class="faint">${words.parts.ago(formatAge(at, Date.now()))}</span>` : null;
  return html`<time datetime=${utc.replace(' UTC', 'Z').replace(' ', 'T')} title=${utc}>${local}${age}</time>`;
}
