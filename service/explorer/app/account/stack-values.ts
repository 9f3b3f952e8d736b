import type { VNode } from 'preact';

import { safeText } from '../format.ts';
import { html } from '../html.ts';
import { Address } from '../parts/address.ts';
import { words } from '../texts.ts';
import type { StackValue } from './stack.ts';

/** Characters of a bag of cells that are shown. */
const BOC_MAX = 100_000;

/** Results of a get-method, the first one at the bottom of the stack. */
export function StackValues({ values }: { readonly values: readonly StackValue[] }) {
  const names = words.account.method;
  if (values.length === 0) return html`<p class="faint">${names.nothing}</p>`;
  return html`<table class="stack">
    <caption>
      ${names.result}
    </caption>
    <thead>
      <tr>
        <th scope="col">#</th>
        <th scope="col">${names.type}</th>
        <th scope="col">${names.value}</th>
      </tr>
    </thead>
    <tbody>
      ${values.map(
        (value, at) =>
          html`<tr key=${at}>
            <td class="number">${at}</td>
            <td>${value.kind === 'list' || value.kind === 'cell' ? value.type : names.kinds[value.kind]}</td>
            <td>${drawValue(value)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function drawValue(value: StackValue): VNode {
  switch (value.kind) {
    case 'number':
      return html`<span class="number">${value.decimal}</span> <span class="mono faint">${value.hex}</span>`;
    case 'address':
      return html`<${Address} address=${value.raw} />`;
    case 'text':
      return html`<bdi>${safeText(value.text)}</bdi> ${drawBoc(value.boc)}`;
    case 'cell':
      return html`<span class="faint">${words.transaction.cellSize(value.refs, value.bits)}</span>
        ${drawBoc(value.boc)}`;
    case 'list':
      return html`<ol start="0">
        ${value.items.map((item, at) => html`<li key=${at}>${drawValue(item)}</li>`)}
      </ol>`;
    default:
      return html`<span>${safeText(value.text, 500)}</span>`;
  }
}

function drawBoc(boc: string): VNode {
  return html`<details>
    <summary>${words.account.method.boc}</summary>
    <pre tabindex="0">${boc.slice(0, BOC_MAX)}</pre>
  </details>`;
}
