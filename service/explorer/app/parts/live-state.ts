import { html } from '../html.ts';
import type { StreamState } from '../live.ts';
import { words } from '../texts.ts';

/** Says whether the page gets live events; nothing for a page that wants none. */
export function LiveState({ state }: { readonly state: StreamState | undefined }) {
  if (state === undefined) return null;
  return html`<small class="live ${state}" role="status">${words.live[state]}</small>`;
}
