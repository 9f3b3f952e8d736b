import type { ComponentChildren } from 'preact';

import { html } from '../html.ts';

/** A name and its value. A row without a value is left out. */
export type Fact = readonly [name: string, value: ComponentChildren];

/** A list of names with values. */
export function Facts({ rows }: { readonly rows: readonly Fact[] }) {
  return html`<dl class="facts">
    ${rows
      .filter(([, value]) => value !== undefined && value !== null)
      .map(
        ([name, value]) =>
          html`<div key=${name}>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
  </dl>`;
}
