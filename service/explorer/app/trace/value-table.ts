import { formatTon } from '../format.ts';
import { html } from '../html.ts';
import { Address } from '../parts/address.ts';
import { TokenAmount, TokenName } from '../parts/token.ts';
import { words } from '../texts.ts';
import type { AccountFlow } from './value-flow.ts';

/** Rows of the table: a trace of thousands of accounts has the largest changes at both ends. */
const ROWS_MAX = 200;

/** Table of gains and losses of each account. */
export function ValueTable({ flows }: { readonly flows: readonly AccountFlow[] }) {
  const text = words.trace;
  const shown = flows.length > ROWS_MAX ? [...flows.slice(0, ROWS_MAX / 2), ...flows.slice(-ROWS_MAX / 2)] : flows;
  return html`<div class="scroll">
    <table class="rows">
      <caption>
        ${text.flow}
      </caption>
      <thead>
        <tr>
          <th scope="col">${words.columns.account}</th>
          <th scope="col" class="number">${text.ton('')}</th>
          <th scope="col" class="number">${text.fees}</th>
          <th scope="col">${text.tokens}</th>
        </tr>
      </thead>
      <tbody>
        ${shown.map((flow) => html`<${Row} key=${flow.account} flow=${flow} />`)}
      </tbody>
    </table>
    ${shown.length < flows.length ? html`<p class="faint">${text.flowCut(flows.length - shown.length)}</p>` : null}
  </div>`;
}

function Row({ flow: { account, nanotons, fees, jettons, nfts } }: { readonly flow: AccountFlow }) {
  return html`<tr>
    <td><${Address} address=${account} /></td>
    <td class="number ${nanotons < 0n ? 'bad' : 'good'}">${signed(nanotons)}</td>
    <td class="number">${formatTon(fees)}</td>
    <td>
      ${[...jettons].map(
        ([jetton, units]) =>
          html`<div key=${jetton}>
            ${units > 0n ? '+' : ''}<${TokenAmount} asset=${jetton} units=${String(units)} />
          </div>`,
      )}
      ${[...nfts].map(
        ([nft, count]) =>
          html`<div key=${nft}>${count > 0 ? '+' : '−'}${Math.abs(count)} <${TokenName} address=${nft} /></div>`,
      )}
    </td>
  </tr>`;
}

function signed(nanotons: bigint): string {
  return nanotons > 0n ? `+${formatTon(nanotons)}` : formatTon(nanotons);
}
