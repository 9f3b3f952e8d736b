import type { VNode } from 'preact';

import { safeText } from '../format.ts';
import { html } from '../html.ts';
import { words } from '../texts.ts';
import { Address } from './address.ts';
import { foldBody } from './folded-body.ts';

/** Levels and entries of one body that are shown: a body's author chooses both. */
const DEPTH_MAX = 12;
const ENTRIES_MAX = 200;

const rawAddress = /^-?\d{1,3}:[0-9A-F]{64}$/;

/** A decoded body: names with values, nested as the contract nests them. */
export function Decoded({ value }: { readonly value: unknown }) {
  return html`<div class="decoded">${drawValue(foldBody(value), { left: ENTRIES_MAX }, 0)}</div>`;
}

function drawValue(value: unknown, room: { left: number }, depth: number): VNode {
  if (value === null || value === undefined) return html`<span class="faint">–</span>`;
  if (typeof value === 'string') return drawText(value);
  if (typeof value !== 'object') return html`<span>${JSON.stringify(value)}</span>`;
  const entries = Object.entries(value);
  if (entries.length === 0) return html`<span class="faint">${words.parts.none}</span>`;
  if (depth >= DEPTH_MAX) return html`<span>…</span>`;
  const shown = entries.filter(([name]) => name !== '@type').slice(0, Math.max(0, room.left));
  room.left -= shown.length;
  const type = (value as Readonly<Record<string, unknown>>)['@type'];
  return html`<div>
    ${typeof type === 'string' ? html`<strong>${safeText(type, 100)}</strong>` : null}
    ${
      shown.length === 0
        ? null
        : html`<dl>
            ${shown.map(
              ([name, inner]) =>
                html`<div key=${name}>
                  <dt>${safeText(name, 100)}</dt>
                  <dd>${drawValue(inner, room, depth + 1)}</dd>
                </div>`,
            )}
          </dl>`
    }
    ${room.left <= 0 ? html`<span class="faint">…</span>` : null}
  </div>`;
}

function drawText(text: string): VNode {
  if (rawAddress.test(text)) return html`<${Address} address=${text} />`;
  return html`<bdi>${safeText(text)}</bdi>`;
}
