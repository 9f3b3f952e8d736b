import { transactionKinds } from '#service/actions/engine/event-transaction.ts';
import { named, object, oneOfStrings, optional, type Infer } from '#service/contract/shape.ts';
import { formatRawAddress } from '#service/decode/address.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import type { TransactionDescr } from '#service/decode/tlb/transaction-descr.ts';
import type {
  ActionPhase,
  BouncePhase,
  ComputePhase,
  CreditPhase,
  SplitMergeInfo,
  StoragePhase,
  StorageUsed,
} from '#service/decode/tlb/transaction-phases.ts';
import { extraCurrenciesById } from '#service/decode/tlb/currency-collection.ts';
import {
  anyText,
  extraCurrencies,
  flag,
  hash,
  integer,
  intString,
  orNull,
  rawAddress,
  viewBytes,
} from '../request/scalars.ts';

// Description of a transaction (service/v3/README.md#description): missing parts are omitted.

const messageSize = named('MsgSize', object({ cells: orNull(intString), bits: orNull(intString) }));

const storagePhase = named(
  'StoragePhase',
  object({ storage_fees_collected: intString, storage_fees_due: optional(intString), status_change: anyText }),
);

const creditPhase = named(
  'CreditPhase',
  object({
    due_fees_collected: optional(intString),
    credit: intString,
    credit_extra_currencies: optional(extraCurrencies),
  }),
);

const computePhase = named(
  'ComputePhase',
  object({
    skipped: flag,
    reason: optional(anyText),
    success: optional(flag),
    msg_state_used: optional(flag),
    account_activated: optional(flag),
    gas_fees: optional(intString),
    gas_used: optional(intString),
    gas_limit: optional(intString),
    gas_credit: optional(intString),
    mode: optional(integer),
    exit_code: optional(integer),
    exit_arg: optional(integer),
    vm_steps: optional(integer),
    vm_init_state_hash: optional(hash),
    vm_final_state_hash: optional(hash),
  }),
);

const actionPhase = named(
  'ActionPhase',
  object({
    success: flag,
    valid: flag,
    no_funds: flag,
    status_change: anyText,
    total_fwd_fees: optional(intString),
    total_action_fees: optional(intString),
    result_code: integer,
    result_arg: optional(integer),
    tot_actions: integer,
    spec_actions: integer,
    skipped_actions: integer,
    msgs_created: integer,
    action_list_hash: hash,
    tot_msg_size: messageSize,
  }),
);

const bouncePhase = named(
  'BouncePhase',
  object({
    type: anyText,
    msg_size: optional(messageSize),
    req_fwd_fees: optional(intString),
    msg_fees: optional(intString),
    fwd_fees: optional(intString),
  }),
);

const splitInfo = named(
  'SplitInfo',
  object({ cur_shard_pfx_len: integer, acc_split_depth: integer, this_addr: rawAddress, sibling_addr: rawAddress }),
);

export const description = named(
  'TransactionDescr',
  object({
    type: oneOfStrings([
      'ord',
      'storage',
      'tick_tock',
      'split_prepare',
      'split_install',
      'merge_prepare',
      'merge_install',
    ]),
    aborted: optional(flag),
    destroyed: optional(flag),
    credit_first: optional(flag),
    is_tock: optional(flag),
    installed: optional(flag),
    storage_ph: optional(storagePhase),
    credit_ph: optional(creditPhase),
    compute_ph: optional(computePhase),
    action: optional(actionPhase),
    bounce: optional(bouncePhase),
    split_info: optional(splitInfo),
  }),
);

/** Renders the description of a transaction (service/v3/README.md#description). @param workchain of the account */
export function viewDescription(
  table: CellTable,
  descr: TransactionDescr,
  workchain: number,
): Infer<typeof description> {
  return {
    type: transactionKinds[descr.kind],
    ...('aborted' in descr && { aborted: descr.aborted }),
    ...('destroyed' in descr && { destroyed: descr.destroyed }),
    ...('creditFirst' in descr && { credit_first: descr.creditFirst }),
    ...('isTock' in descr && { is_tock: descr.isTock }),
    ...('installed' in descr && { installed: descr.installed }),
    ...('storage' in descr && descr.storage && { storage_ph: viewStorage(descr.storage) }),
    ...('credit' in descr && descr.credit && { credit_ph: viewCredit(table, descr.credit) }),
    ...('compute' in descr && { compute_ph: viewCompute(descr.compute) }),
    ...('action' in descr && descr.action && { action: viewAction(descr.action) }),
    ...('bounce' in descr && descr.bounce && { bounce: viewBounce(descr.bounce) }),
    ...('splitInfo' in descr && { split_info: viewSplit(descr.splitInfo, workchain) }),
  };
}

function viewStorage({ feesCollected, feesDue, statusChange }: StoragePhase): Infer<typeof storagePhase> {
  return {
    storage_fees_collected: feesCollected.toString(),
    ...(feesDue !== undefined && { storage_fees_due: feesDue.toString() }),
    status_change: statusChange,
  };
}

function viewCredit(table: CellTable, { dueFeesCollected, credit }: CreditPhase): Infer<typeof creditPhase> {
  const others = extraCurrenciesById(table, credit.extra);
  return {
    ...(dueFeesCollected !== undefined && { due_fees_collected: dueFeesCollected.toString() }),
    credit: credit.grams.toString(),
    ...(Object.keys(others).length > 0 && { credit_extra_currencies: others }),
  };
}

function viewCompute(phase: ComputePhase): Infer<typeof computePhase> {
  if (phase.kind === 'skipped') return { skipped: true, reason: phase.reason };
  return {
    skipped: false,
    success: phase.success,
    msg_state_used: phase.messageStateUsed,
    account_activated: phase.accountActivated,
    gas_fees: phase.gasFees.toString(),
    gas_used: phase.gasUsed.toString(),
    gas_limit: phase.gasLimit.toString(),
    ...(phase.gasCredit !== undefined && { gas_credit: phase.gasCredit.toString() }),
    mode: phase.mode,
    exit_code: phase.exitCode,
    ...(phase.exitArg !== undefined && { exit_arg: phase.exitArg }),
    vm_steps: phase.vmSteps,
    vm_init_state_hash: viewBytes(phase.vmInitStateHash),
    vm_final_state_hash: viewBytes(phase.vmFinalStateHash),
  };
}

function viewAction(phase: ActionPhase): Infer<typeof actionPhase> {
  const { totalForwardFees, totalActionFees, resultArg } = phase;
  return {
    success: phase.success,
    valid: phase.valid,
    no_funds: phase.noFunds,
    status_change: phase.statusChange,
    ...(totalForwardFees !== undefined && { total_fwd_fees: totalForwardFees.toString() }),
    ...(totalActionFees !== undefined && { total_action_fees: totalActionFees.toString() }),
    result_code: phase.resultCode,
    ...(resultArg !== undefined && { result_arg: resultArg }),
    tot_actions: phase.totalActions,
    spec_actions: phase.specialActions,
    skipped_actions: phase.skippedActions,
    msgs_created: phase.messagesCreated,
    action_list_hash: viewBytes(phase.actionListHash),
    tot_msg_size: viewSize(phase.totalMessageSize),
  };
}

function viewBounce(phase: BouncePhase): Infer<typeof bouncePhase> {
  if (phase.kind === 'negativeFunds') return { type: 'negfunds' };
  const msg_size = viewSize(phase.messageSize);
  if (phase.kind === 'noFunds')
    return { type: 'nofunds', msg_size, req_fwd_fees: phase.requiredForwardFees.toString() };
  return { type: 'ok', msg_size, msg_fees: phase.messageFees.toString(), fwd_fees: phase.forwardFees.toString() };
}

function viewSize({ cells, bits }: StorageUsed): Infer<typeof messageSize> {
  return { cells: cells.toString(), bits: bits.toString() };
}

function viewSplit(info: SplitMergeInfo, workchain: number): Infer<typeof splitInfo> {
  return {
    cur_shard_pfx_len: info.shardPrefixBits,
    acc_split_depth: info.splitDepth,
    this_addr: formatRawAddress({ workchain, id: info.thisAddress }, 'upper'),
    sibling_addr: formatRawAddress({ workchain, id: info.siblingAddress }, 'upper'),
  };
}
