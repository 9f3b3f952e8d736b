import type { VNode } from 'preact';

import { actionCodeMeaning, exitCodeMeaning, skipMeaning, type CodeMeaning } from '../exit-codes.ts';
import { formatCount, safeText } from '../format.ts';
import { html } from '../html.ts';
import type { TransactionDescription } from '../objects.ts';
import { Ton } from '../parts/amount.ts';
import { Facts, type Fact } from '../parts/facts.ts';
import { words } from '../texts.ts';

type Phase = Readonly<Record<string, unknown>>;

/** The phases of a transaction in the order in which they ran. */
export function Phases({
  description,
  interfaces,
}: {
  readonly description: TransactionDescription;
  readonly interfaces: readonly string[];
}) {
  const { storage_ph: storage, credit_ph: credit, compute_ph: compute, action, bounce, credit_first } = description;
  const { phases } = words.transaction;
  const first: readonly Section[] = [
    [phases.storage, storage && storageFacts(storage)],
    [phases.credit, credit && creditFacts(credit)],
  ];
  const sections: readonly Section[] = [
    ...(credit_first === true ? first.toReversed() : first),
    [phases.compute, compute && computeFacts(compute, interfaces)],
    [phases.action, action && actionFacts(action)],
    [phases.bounce, bounce && bounceFacts(bounce)],
  ];
  return html`<div class="columns phases">
    ${sections
      .filter(([, rows]) => rows !== undefined)
      .map(
        ([title, rows]) =>
          html`<section key=${title}>
            <h3>${title}</h3>
            <${Facts} rows=${rows} />
          </section>`,
      )}
  </div>`;
}

type Section = readonly [title: string, rows: readonly Fact[] | undefined];

const names = words.transaction.fields;

function storageFacts(phase: Phase): readonly Fact[] {
  return [
    [names.collected, ton(phase['storage_fees_collected'])],
    [names.due, ton(phase['storage_fees_due'])],
    [names.statusChange, text(phase['status_change'])],
  ];
}

function creditFacts(phase: Phase): readonly Fact[] {
  return [
    [names.credit, ton(phase['credit'])],
    [names.dueCollected, ton(phase['due_fees_collected'])],
  ];
}

function computeFacts(
  phase: NonNullable<TransactionDescription['compute_ph']>,
  interfaces: readonly string[],
): readonly Fact[] {
  if (phase.skipped) {
    const reason = phase.reason ?? '';
    return [[names.skipped, html`${safeText(reason)} <span class="faint">${skipMeaning(reason)}</span>`]];
  }
  return [
    [
      names.exitCode,
      phase.exit_code === undefined
        ? undefined
        : drawCode(phase.exit_code, exitCodeMeaning(phase.exit_code, interfaces), phase.success !== false),
    ],
    [names.exitArgument, count(phase['exit_arg'])],
    [names.vmSteps, count(phase.vm_steps)],
    [names.gasUsed, count(phase.gas_used)],
    [names.gasLimit, count(phase.gas_limit)],
    [names.gasCredit, count(phase['gas_credit'])],
    [names.gasFees, ton(phase.gas_fees)],
    [names.activated, yes(phase['account_activated'])],
    [names.stateUsed, yes(phase['msg_state_used'])],
  ];
}

function actionFacts(phase: NonNullable<TransactionDescription['action']>): readonly Fact[] {
  const size = phase['tot_msg_size'] as { readonly cells?: string; readonly bits?: string } | undefined;
  return [
    [names.resultCode, drawCode(phase.result_code, actionCodeMeaning(phase.result_code), phase.success)],
    [names.resultArgument, count(phase['result_arg'])],
    [names.noFunds, yes(phase['no_funds'])],
    [names.actions, count(phase['tot_actions'])],
    [names.special, positive(phase['spec_actions'])],
    [names.skippedActions, positive(phase['skipped_actions'])],
    [names.messages, count(phase['msgs_created'])],
    [names.forwardFees, ton(phase['total_fwd_fees'])],
    [names.actionFees, ton(phase['total_action_fees'])],
    [names.size, size === undefined ? undefined : words.transaction.size(size.cells ?? '0', size.bits ?? '0')],
    [names.statusChange, text(phase['status_change'])],
  ];
}

function bounceFacts(phase: Phase): readonly Fact[] {
  const type = typeof phase['type'] === 'string' ? phase['type'] : '';
  return [
    [names.result, words.transaction.bounce(type)],
    [names.forwardFees, ton(phase['fwd_fees'])],
    [names.messageFees, ton(phase['msg_fees'])],
    [names.required, ton(phase['req_fwd_fees'])],
  ];
}

/** A code, its name, and its meaning in a line of its own. */
function drawCode(code: number, { name, meaning }: CodeMeaning, isGood: boolean): VNode {
  return html`<span class=${isGood ? 'good' : 'bad'}>${code} · ${name}</span>
    <div class="faint">${meaning}</div>`;
}

const ton = (value: unknown): VNode | undefined =>
  typeof value === 'string' ? html`<${Ton} value=${value} />` : undefined;

const count = (value: unknown): string | undefined =>
  (typeof value === 'number' || typeof value === 'string') && /^-?\d+$/.test(String(value))
    ? formatCount(value)
    : undefined;

const positive = (value: unknown): string | undefined => (value === 0 ? undefined : count(value));

const text = (value: unknown): string | undefined => (typeof value === 'string' ? safeText(value, 100) : undefined);

const yes = (value: unknown): string | undefined => (value === true ? words.parts.yes : undefined);
