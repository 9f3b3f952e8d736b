import { useLabels } from '../context.ts';
import { outcomeOfTransaction } from '../exit-codes.ts';
import { formatCount } from '../format.ts';
import { html } from '../html.ts';
import { opcodeText } from '../opcodes.ts';
import { Address } from '../parts/address.ts';
import { Ton } from '../parts/amount.ts';
import { Facts } from '../parts/facts.ts';
import { foldBody } from '../parts/folded-body.ts';
import { Hash } from '../parts/hash.ts';
import { Json } from '../parts/json.ts';
import { Time } from '../parts/time.ts';
import { transactionPath } from '../transaction/path.ts';
import { words } from '../texts.ts';
import type { TraceTree } from './tree.ts';

/** The selected transaction of a trace with its message. @param isSent false for an emulation, whose transactions are on no other page */
export function NodeDetails({ node, isSent }: { readonly node: TraceTree; readonly isSent: boolean }) {
  const { book } = useLabels();
  const { transaction, message, account } = node;
  const text = words.trace;
  const interfaces = (account === null ? undefined : book[account]?.interfaces) ?? [];
  const outcome = transaction && outcomeOfTransaction(transaction.description, interfaces);
  return html`<section aria-label=${text.selected}>
    <h2>${text.selected}</h2>
    <${Facts}
      rows=${[
        [text.account, html`<${Address} address=${account} />`],
        [text.from, message && html`<${Address} address=${message.source} />`],
        [text.opcode, message && opcodeText(message.opcode, message.decoded_opcode)],
        [text.value, message && html`<${Ton} value=${message.value} />`],
        [
          text.transaction,
          transaction &&
            html`<${Hash} hash=${transaction.hash} href=${isSent ? transactionPath(transaction) : undefined} />
              ${transaction.emulated === true ? html`<span class="warn">${text.simulated}</span>` : null}`,
        ],
        [text.time, transaction && html`<${Time} at=${transaction.now} />`],
        [text.result, outcome && html`<span class=${outcome.isFailed ? 'bad' : ''}>${outcome.text}</span>`],
        [text.meaning, outcome?.isFailed ? outcome.meaning : undefined],
        [text.gas, gasText(transaction?.description.compute_ph?.gas_used)],
        [text.fees, transaction && html`<${Ton} value=${transaction.total_fees} />`],
      ]}
    />
    ${message === undefined ? null : html`<${Json} value=${foldBody(message.message_content?.decoded ?? message.message_content)} title=${text.body} />`}
    <${Json} value=${transaction ?? message} />
  </section>`;
}

function gasText(gas: string | undefined): string | undefined {
  return gas === undefined ? undefined : formatCount(gas);
}
