import { html } from '../html.ts';
import type { AccountStateBrief, Transaction } from '../objects.ts';
import { Ton } from '../parts/amount.ts';
import { Hash } from '../parts/hash.ts';
import { words } from '../texts.ts';

/** The account before and after a transaction. */
export function States({ transaction }: { readonly transaction: Transaction }) {
  const { account_state_before: before, account_state_after: after, orig_status, end_status } = transaction;
  const names = words.transaction.state;
  const change =
    before?.balance === null || after?.balance === null || before === null || after === null
      ? undefined
      : BigInt(after.balance) - BigInt(before.balance);
  const hashRow = (name: string, of: (state: AccountStateBrief) => string | null) =>
    html`<tr>
      <th scope="row">${name}</th>
      ${[before, after].map((state, at) => html`<td key=${at}>${drawHash(state === null ? null : of(state))}</td>`)}
    </tr>`;
  return html`<div class="scroll">
    <table class="states quiet">
      <caption>
        ${names.caption}
      </caption>
      <thead>
        <tr>
          <td></td>
          <th scope="col">${names.before}</th>
          <th scope="col">${names.after}</th>
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">${names.status}</th>
          <td>${orig_status}</td>
          <td>${end_status}</td>
        </tr>
        <tr>
          <th scope="row">${names.balance}</th>
          <td><${Ton} value=${before?.balance} /></td>
          <td>
            <${Ton} value=${after?.balance} />
            ${change === undefined ? null : html` <span class="faint">(<${Ton} value=${change} />)</span>`}
          </td>
        </tr>
        ${hashRow(names.hash, ({ hash }) => hash)} ${hashRow(names.code, ({ code_hash: code }) => code)}
        ${hashRow(names.data, ({ data_hash: data }) => data)}
      </tbody>
    </table>
  </div>`;
}

function drawHash(hash: string | null) {
  return hash === null ? html`<span class="faint">–</span>` : html`<${Hash} hash=${hash} />`;
}
