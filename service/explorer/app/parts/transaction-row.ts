import { useLabels } from '../context.ts';
import { outcomeOfTransaction } from '../exit-codes.ts';
import { html } from '../html.ts';
import type { Message, Transaction } from '../objects.ts';
import { opcodeText } from '../opcodes.ts';
import { transactionPath } from '../transaction/path.ts';
import { words } from '../texts.ts';
import { Address } from './address.ts';
import { Ton } from './amount.ts';
import { Hash } from './hash.ts';
import { Time } from './time.ts';

/** Transactions as a table. @param withAccount false on the page of their only account */
export function TransactionTable({
  transactions,
  caption,
  withAccount = true,
  isNew = () => false,
}: {
  readonly transactions: readonly Transaction[];
  readonly caption: string;
  readonly withAccount?: boolean;
  readonly isNew?: (transaction: Transaction) => boolean;
}) {
  const { columns, transaction: names } = words;
  return html`<table class="rows transactions quiet">
    <caption>
      ${caption}
    </caption>
    <thead>
      <tr>
        <th scope="col">${columns.time}</th>
        <th scope="col">${columns.hash}</th>
        ${withAccount ? html`<th scope="col">${columns.account}</th>` : null}
        <th scope="col">${names.message}</th>
        <th scope="col">${names.from}</th>
        <th scope="col" class="number">${names.in}</th>
        <th scope="col" class="number">${names.out}</th>
        <th scope="col" class="number">${names.fees}</th>
        <th scope="col">${columns.result}</th>
      </tr>
    </thead>
    <tbody>
      ${transactions.map(
        (one) =>
          html`<${TransactionRow} key=${one.hash} transaction=${one} withAccount=${withAccount} isNew=${isNew(one)} />`,
      )}
    </tbody>
  </table>`;
}

/** A row of `TransactionTable`. */
export function TransactionRow({
  transaction,
  withAccount = true,
  isNew = false,
}: {
  readonly transaction: Transaction;
  readonly withAccount?: boolean;
  readonly isNew?: boolean;
}) {
  const { hash, now, account, in_msg: taken, out_msgs: sent, total_fees: fees } = transaction;
  return html`<tr class=${isNew ? 'new' : ''}>
    <td class="time"><${Time} at=${now} />${isNew ? html` <small>${words.parts.new}</small>` : null}</td>
    <td><${Hash} hash=${hash} href=${transactionPath(transaction)} />${simulatedMark(transaction)}</td>
    ${withAccount ? html`<td><${Address} address=${account} /></td>` : null}
    <td>${messageName(transaction)}</td>
    <td class=${taken === null ? 'none' : ''} data-label=${words.transaction.from}>${fromOf(taken)}</td>
    <td class="number ${taken === null ? 'none' : ''}" data-label=${words.transaction.in}>
      ${taken === null ? '–' : html`<${Ton} value=${taken.value} />`}
    </td>
    <td class="number ${sent.length === 0 ? 'none' : ''}" data-label=${words.transaction.out}>
      ${sent.length === 0 ? '–' : html`<${Ton} value=${valueOut(sent)} />`}
    </td>
    <td class="number" data-label=${words.transaction.fees}><${Ton} value=${fees} /></td>
    <td><${TransactionOutcome} transaction=${transaction} /></td>
  </tr>`;
}

/** Result of a transaction with its exit code. */
export function TransactionOutcome({
  transaction,
  interfaces,
}: {
  readonly transaction: Transaction;
  /** Interfaces of the account; undefined: those of the address book. */
  readonly interfaces?: readonly string[];
}) {
  const { book } = useLabels();
  const known = interfaces ?? book[transaction.account]?.interfaces ?? [];
  const outcome = outcomeOfTransaction(transaction.description, known);
  return html`<span class=${outcome.isFailed ? 'bad' : ''} title=${outcome.meaning}>${outcome.text}</span>`;
}

const simulatedMark = ({ emulated }: Transaction) =>
  emulated === true ? html` <span class="warn">${words.trace.simulated}</span>` : null;

function messageName({ in_msg: taken, description }: Transaction): string {
  if (taken === null) return words.transaction.types(description.type);
  return opcodeText(taken.opcode, taken.decoded_opcode);
}

function fromOf(taken: Message | null) {
  if (taken === null) return '–';
  return taken.source === null
    ? html`<span class="faint">${words.action.outside}</span>`
    : html`<${Address} address=${taken.source} />`;
}

function valueOut(sent: readonly Message[]): bigint {
  return sent.reduce((sum, { value }) => sum + BigInt(value ?? 0), 0n);
}
