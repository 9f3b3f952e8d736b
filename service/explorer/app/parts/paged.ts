import type { ComponentChildren } from 'preact';

import { LabelsProvider } from '../context.ts';
import { html } from '../html.ts';
import { ROWS_MAX } from '../rows.ts';
import type { PagedRows } from '../use-rows.ts';
import { words } from '../texts.ts';
import { Loaded } from './loaded.ts';

/** The rows of a list with a button for older rows. @param draw draws all rows that are loaded */
export function Paged<R>({
  paged,
  draw,
  none,
}: {
  readonly paged: PagedRows<R>;
  readonly draw: (rows: readonly R[]) => ComponentChildren;
  /** Words for an empty list. */
  readonly none: string;
}) {
  const { first, following, rows, more, labels } = paged;
  const isWaiting = following.isLoading || following.error !== undefined;
  return html`<${LabelsProvider} value=${labels}>
    <${Loaded} load=${first} draw=${() => (rows.length === 0 ? html`<p class="faint">${none}</p>` : draw(rows))} />
    ${isWaiting && rows.length > 0 ? html`<${Loaded} load=${following} draw=${() => null} />` : null}
    ${more === undefined ? null : html`<p><button type="button" onClick=${more}>${words.parts.older}</button></p>`}
    ${rows.length >= ROWS_MAX ? html`<p class="faint">${words.parts.enough(ROWS_MAX)}</p>` : null}
  <//>`;
}
