import { ApiError } from '../api.ts';
import { LabelsProvider, labelsOf, useApplication } from '../context.ts';
import { formatCount, hashToHex } from '../format.ts';
import { html } from '../html.ts';
import type { Labels, Transaction } from '../objects.ts';
import { Address } from '../parts/address.ts';
import { Ton } from '../parts/amount.ts';
import { Facts, type Fact } from '../parts/facts.ts';
import { Hash } from '../parts/hash.ts';
import { Json } from '../parts/json.ts';
import { Loaded } from '../parts/loaded.ts';
import { Time } from '../parts/time.ts';
import { WithBook } from '../parts/with-book.ts';
import { TransactionOutcome } from '../parts/transaction-row.ts';
import { paths, type Route } from '../paths.ts';
import { feesOf } from '../transaction/fees.ts';
import { MessageView } from '../transaction/message.ts';
import { Phases } from '../transaction/phases.ts';
import { States } from '../transaction/states.ts';
import { useLoad } from '../use-load.ts';
import { words } from '../texts.ts';

type Answer = { readonly transactions: readonly Transaction[] } & Labels;

/** Previous hash of an account's first transaction. */
const NO_HASH = `${'A'.repeat(43)}=`;

/** A transaction: phases, fees, exit codes, states and messages. */
export function TransactionPage({ route }: { readonly route: Extract<Route, { page: 'transaction' | 'trace' }> }) {
  const { api } = useApplication();
  const load = useLoad<Answer>(`transaction ${route.hash}`, async (signal) => {
    const hash = hashToHex(route.hash);
    if (hash === undefined) throw new ApiError(422, words.trace.noHash);
    const answer = await api.v3<Answer>('transactions', { hash, limit: 1 }, signal);
    if (answer.transactions.length === 0) throw new ApiError(404, words.transaction.absent);
    return answer;
  });
  return html`<h1>${words.transaction.title} <${Hash} hash=${route.hash} isWhole /></h1>
    <${Loaded} load=${load} draw=${(answer: Answer) => html`<${Whole} answer=${answer} />`} />
    ${
      load.error?.status === 404
        ? html`<p>
            ${words.transaction.simulated} <a href=${paths.search(route.hash)}>${words.transaction.searchAll}</a>
          </p>`
        : null
    }`;
}

function Whole({ answer }: { readonly answer: Answer }) {
  const [transaction] = answer.transactions;
  if (transaction === undefined) return null;
  const { description, in_msg: taken, out_msgs: sent } = transaction;
  const interfaces = answer.address_book?.[transaction.account]?.interfaces ?? [];
  const names = words.transaction;
  return html`<${LabelsProvider} value=${labelsOf(answer)}>
    <${Overview} transaction=${transaction} interfaces=${interfaces} />
    <h2>${names.phasesTitle}</h2>
    <${Phases} description=${description} interfaces=${interfaces} />
    <h2>${names.feesTitle}</h2>
    <${FeesList} transaction=${transaction} />
    <h2>${names.state.title}</h2>
    <${States} transaction=${transaction} />
    <h2>${names.messagesTitle}</h2>
    <${WithBook} value=${[taken, sent]}>
      ${
        taken === null
          ? html`<p class="faint">${names.noMessage}</p>`
          : html`<${MessageView} message=${taken} title=${names.inMessage} />`
      }
      ${sent.map(
        (message, at) =>
          html`<${MessageView}
            key=${message.hash}
            message=${message}
            title=${names.outMessage(at + 1, sent.length)}
          />`,
      )}
    <//>
    <${Json} value=${transaction} />
  <//>`;
}

function Overview({
  transaction,
  interfaces,
}: {
  readonly transaction: Transaction;
  readonly interfaces: readonly string[];
}) {
  const { block_ref: block, trace_id: trace, description, prev_trans_hash: previous } = transaction;
  const names = words.transaction;
  return html`<${Facts}
    rows=${[
      [words.columns.account, html`<${Address} address=${transaction.account} />`],
      [names.interfaces, interfaces.length === 0 ? undefined : interfaces.join(', ')],
      [words.columns.result, html`<${TransactionOutcome} transaction=${transaction} interfaces=${interfaces} />`],
      [words.columns.time, html`<${Time} at=${transaction.now} withAge />`],
      [names.type, names.types(description.type)],
      [names.finality, transaction.finality],
      [
        names.trace,
        trace === null || trace === undefined
          ? undefined
          : html`<a href=${paths.trace(trace, transaction.hash)}>${names.openTrace}</a> <${Hash} hash=${trace} />`,
      ],
      [
        words.columns.seqno,
        html`<a class="mono" href=${paths.block(block.workchain, block.shard, block.seqno)}
          >${block.workchain}:${block.shard}:${block.seqno}</a
        >`,
      ],
      [names.masterchainBlock, formatCount(transaction.mc_block_seqno)],
      [names.lt, html`<span class="number">${transaction.lt}</span>`],
      [
        names.previous,
        previous === NO_HASH ? names.first : html`<${Hash} hash=${previous} href=${paths.transaction(previous)} />`,
      ],
      [names.destroyed, description.destroyed === true ? words.parts.yes : undefined],
    ]}
  />`;
}

function FeesList({ transaction }: { readonly transaction: Transaction }) {
  const fees = feesOf(transaction);
  const names = words.transaction.fee;
  return html`<${Facts}
    rows=${[
      feeOf(names.total, fees.total),
      feeOf(names.storage, fees.storage, fees.storage !== 0n),
      feeOf(names.gas, fees.gas, fees.gas !== 0n),
      feeOf(names.action, fees.action, fees.action !== 0n),
      feeOf(names.other, fees.other, fees.other !== 0n),
      feeOf(names.forwarded, fees.forwarded, fees.forwarded !== 0n),
    ]}
  />`;
}

const feeOf = (name: string, value: bigint, isShown = true): Fact => [
  name,
  isShown ? html`<${Ton} value=${value} />` : undefined,
];
