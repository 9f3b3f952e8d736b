import { html } from '../html.ts';
import type { StreamState } from '../live.ts';
import { words } from '../texts.ts';

/** Says whether the page gets live events. */
export function LiveState({ state }: { readonly state: StreamState }) {
  return html`<small class="live ${state}" role="status">${words.live[state]}</small>`;
}
