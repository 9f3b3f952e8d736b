import type { VNode } from 'preact';

import { formatCount } from '../format.ts';
import { html } from '../html.ts';
import { Address } from '../parts/address.ts';
import { Ton } from '../parts/amount.ts';
import { Facts } from '../parts/facts.ts';
import { Hash } from '../parts/hash.ts';
import { Time } from '../parts/time.ts';
import { words } from '../texts.ts';
import type { ConfigValue, Named } from './values.ts';

/** Rows of a list before a click. */
const ROWS_SHOWN = 10;

/** A value of the configuration. A list of groups is a table. */
export function ConfigView({ value, title }: { readonly value: ConfigValue; readonly title: string }): VNode {
  if (value.kind === 'group') return html`<${Group} rows=${value.rows} title=${title} />`;
  if (value.kind === 'list') return html`<${List} items=${value.items} title=${title} />`;
  return drawScalar(value);
}

function Group({ rows, title }: { readonly rows: readonly Named[]; readonly title: string }) {
  const scalars = rows.filter(([, value]) => value.kind !== 'list' && value.kind !== 'group');
  const inner = rows.filter(([, value]) => value.kind === 'list' || value.kind === 'group');
  return html`<${Facts} rows=${scalars.map(([name, value]) => [nameOf(name), drawScalar(value)])} /> ${inner.map(
      ([name, value]) =>
        html`<div class="inner" key=${name}>
          <h3>${nameOf(name)}</h3>
          <${ConfigView} value=${value} title="${title}: ${nameOf(name)}" />
        </div>`,
    )}`;
}

function List({ items, title }: { readonly items: readonly ConfigValue[]; readonly title: string }) {
  if (items.length === 0) return html`<p class="faint">${words.parts.none}</p>`;
  const [first] = items;
  if (first?.kind !== 'group') {
    return html`<ul class="inline">
      ${items.map((item, at) => html`<li key=${at}>${drawScalar(item)}</li>`)}
    </ul>`;
  }
  const [start, rest] = [items.slice(0, ROWS_SHOWN), items.slice(ROWS_SHOWN)];
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${title}>
      <${Table} items=${start} title=${title} />
    </div>
    ${
      rest.length === 0
        ? null
        : html`<details>
            <summary>${words.config.rest(rest.length)}</summary>
            <div class="scroll" tabindex="0" role="region" aria-label=${title}>
              <${Table} items=${rest} title=${title} />
            </div>
          </details>`
    }`;
}

function Table({ items, title }: { readonly items: readonly ConfigValue[]; readonly title: string }) {
  const rows = items.map((item) => (item.kind === 'group' ? item.rows : []));
  return html`<table aria-label=${title}>
    <thead>
      <tr>
        ${(rows[0] ?? []).map(([name]) => html`<th key=${name} scope="col">${nameOf(name)}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row, at) =>
          html`<tr key=${at}>
            ${row.map(([name, value]) => html`<td key=${name}>${drawScalar(value)}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** Names of fields are those of the schema of blocks, as words. */
const nameOf = (name: string): string => name.replaceAll('_', ' ');

function drawScalar(value: ConfigValue): VNode {
  switch (value.kind) {
    case 'ton':
      return html`<${Ton} value=${value.units} />`;
    case 'account':
      return html`<${Address} address=${value.address} />`;
    case 'hash':
      return html`<${Hash} hash=${value.hex} />`;
    case 'time':
      return html`<${Time} at=${value.at} />`;
    case 'seconds':
      return html`<span class="number">${formatCount(value.text)} <span class="unit">s</span></span>`;
    case 'flag':
      return html`<span>${value.isSet ? words.parts.yes : words.parts.no}</span>`;
    case 'decimal':
      return html`<span class="number">${value.text}</span>`;
    case 'number':
      return html`<span class="number">${formatCount(value.text)}</span>`;
    default:
      return html`<span>…</span>`;
  }
}
