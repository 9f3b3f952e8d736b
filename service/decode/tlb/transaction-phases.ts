import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { DecodeError } from '../errors.ts';
import { readStatusChange } from './account-status.ts';
import type { StatusChange } from './account-status.ts';
import { readCurrencyCollection } from './currency-collection.ts';
import type { CurrencyCollection } from './currency-collection.ts';

// Amounts are in nanotons.

/** Paying for storage since the last transaction. */
export type StoragePhase = {
  readonly feesCollected: bigint;
  readonly feesDue: bigint | undefined;
  readonly statusChange: StatusChange;
};

/** `tr_phase_storage$_ storage_fees_collected:Grams storage_fees_due:(Maybe Grams) status_change:AccStatusChange`. */
export function readStoragePhase(slice: CellSlice): StoragePhase {
  return {
    feesCollected: slice.coins(),
    feesDue: slice.bit() ? slice.coins() : undefined,
    statusChange: readStatusChange(slice),
  };
}

/** Crediting the message's value. */
export type CreditPhase = { readonly dueFeesCollected: bigint | undefined; readonly credit: CurrencyCollection };

/** `tr_phase_credit$_ due_fees_collected:(Maybe Grams) credit:CurrencyCollection`. */
export function readCreditPhase(slice: CellSlice): CreditPhase {
  return { dueFeesCollected: slice.bit() ? slice.coins() : undefined, credit: readCurrencyCollection(slice) };
}

/** Running the contract's code. */
export type ComputePhase = ComputeSkipped | ComputeVm;

export type ComputeSkipped = { readonly kind: 'skipped'; readonly reason: ComputeSkipReason };

export type ComputeSkipReason = 'no_state' | 'bad_state' | 'no_gas' | 'suspended';

export type ComputeVm = {
  readonly kind: 'vm';
  readonly success: boolean;
  readonly messageStateUsed: boolean;
  readonly accountActivated: boolean;
  readonly gasFees: bigint;
  readonly gasUsed: number;
  readonly gasLimit: number;
  readonly gasCredit: number | undefined;
  readonly mode: number;
  readonly exitCode: number;
  readonly exitArg: number | undefined;
  readonly vmSteps: number;
  readonly vmInitStateHash: Buffer;
  readonly vmFinalStateHash: Buffer;
};

/**
 * `tr_phase_compute_skipped$0 reason:ComputeSkipReason`, or `tr_phase_compute_vm$1 success:Bool msg_state_used:Bool
 * account_activated:Bool gas_fees:Grams ^[ gas_used:(VarUInteger 7) gas_limit:(VarUInteger 7)
 * gas_credit:(Maybe (VarUInteger 3)) mode:int8 exit_code:int32 exit_arg:(Maybe int32) vm_steps:uint32
 * vm_init_state_hash:bits256 vm_final_state_hash:bits256 ]`.
 */
export function readComputePhase(slice: CellSlice): ComputePhase {
  if (!slice.bit()) return { kind: 'skipped', reason: readSkipReason(slice) };
  const success = slice.bit();
  const messageStateUsed = slice.bit();
  const accountActivated = slice.bit();
  const gasFees = slice.coins();
  const vm = slice.refSlice();
  return {
    kind: 'vm',
    success,
    messageStateUsed,
    accountActivated,
    gasFees,
    gasUsed: vm.varUintNumber(7),
    gasLimit: vm.varUintNumber(7),
    gasCredit: vm.bit() ? vm.varUintNumber(3) : undefined,
    mode: vm.int(8),
    exitCode: vm.int(32),
    exitArg: vm.bit() ? vm.int(32) : undefined,
    vmSteps: vm.uint(32),
    vmInitStateHash: vm.hash(),
    vmFinalStateHash: vm.hash(),
  };
}

/** `cskip_no_state$00`, `cskip_bad_state$01`, `cskip_no_gas$10`, `cskip_suspended$110`. */
function readSkipReason(slice: CellSlice): ComputeSkipReason {
  if (!slice.bit()) return slice.bit() ? 'bad_state' : 'no_state';
  if (!slice.bit()) return 'no_gas';
  slice.expectTag(1, 0, 'ComputeSkipReason');
  return 'suspended';
}

/** Cells and bits of a message. */
export type StorageUsed = { readonly cells: number; readonly bits: number };

/** `storage_used$_ cells:(VarUInteger 7) bits:(VarUInteger 7)`. */
function readStorageUsed(slice: CellSlice): StorageUsed {
  return { cells: slice.varUintNumber(7), bits: slice.varUintNumber(7) };
}

/** Execution of the contract's requests: sending messages, changing code, reserving money. */
export type ActionPhase = {
  readonly success: boolean;
  readonly valid: boolean;
  readonly noFunds: boolean;
  readonly statusChange: StatusChange;
  readonly totalForwardFees: bigint | undefined;
  readonly totalActionFees: bigint | undefined;
  readonly resultCode: number;
  readonly resultArg: number | undefined;
  readonly totalActions: number;
  readonly specialActions: number;
  readonly skippedActions: number;
  readonly messagesCreated: number;
  readonly actionListHash: Buffer;
  readonly totalMessageSize: StorageUsed;
};

/**
 * `tr_phase_action$_ success:Bool valid:Bool no_funds:Bool status_change:AccStatusChange total_fwd_fees:(Maybe Grams)
 * total_action_fees:(Maybe Grams) result_code:int32 result_arg:(Maybe int32) tot_actions:uint16 spec_actions:uint16
 * skipped_actions:uint16 msgs_created:uint16 action_list_hash:bits256 tot_msg_size:StorageUsed`.
 */
export function readActionPhase(table: CellTable, cell: number): ActionPhase {
  const slice = new CellSlice(table, cell);
  return {
    success: slice.bit(),
    valid: slice.bit(),
    noFunds: slice.bit(),
    statusChange: readStatusChange(slice),
    totalForwardFees: slice.bit() ? slice.coins() : undefined,
    totalActionFees: slice.bit() ? slice.coins() : undefined,
    resultCode: slice.int(32),
    resultArg: slice.bit() ? slice.int(32) : undefined,
    totalActions: slice.uint(16),
    specialActions: slice.uint(16),
    skippedActions: slice.uint(16),
    messagesCreated: slice.uint(16),
    actionListHash: slice.hash(),
    totalMessageSize: readStorageUsed(slice),
  };
}

/** Sending the value back after a failure. */
export type BouncePhase =
  | { readonly kind: 'negativeFunds' }
  | { readonly kind: 'noFunds'; readonly messageSize: StorageUsed; readonly requiredForwardFees: bigint }
  | {
      readonly kind: 'ok';
      readonly messageSize: StorageUsed;
      readonly messageFees: bigint;
      readonly forwardFees: bigint;
    };

/**
 * `tr_phase_bounce_negfunds$00`, `tr_phase_bounce_nofunds$01 msg_size:StorageUsed req_fwd_fees:Grams`,
 * `tr_phase_bounce_ok$1 msg_size:StorageUsed msg_fees:Grams fwd_fees:Grams`.
 */
export function readBouncePhase(slice: CellSlice): BouncePhase {
  if (slice.bit()) {
    return {
      kind: 'ok',
      messageSize: readStorageUsed(slice),
      messageFees: slice.coins(),
      forwardFees: slice.coins(),
    };
  }
  if (!slice.bit()) return { kind: 'negativeFunds' };
  return { kind: 'noFunds', messageSize: readStorageUsed(slice), requiredForwardFees: slice.coins() };
}

/** Position of an account when its shard is split or merged; ids are 32 bytes. */
export type SplitMergeInfo = {
  readonly shardPrefixBits: number;
  readonly splitDepth: number;
  readonly thisAddress: Buffer;
  readonly siblingAddress: Buffer;
};

/** `split_merge_info$_ cur_shard_pfx_len:(## 6) acc_split_depth:(## 6) this_addr:bits256 sibling_addr:bits256`. */
export function readSplitMergeInfo(slice: CellSlice): SplitMergeInfo {
  const shardPrefixBits = slice.uint(6);
  const splitDepth = slice.uint(6);
  if (shardPrefixBits > 60) {
    throw new DecodeError('bad_value', 'A shard prefix is too long.', {
      cell: slice.cell,
      found: shardPrefixBits,
      limit: 60,
    });
  }
  return { shardPrefixBits, splitDepth, thisAddress: slice.hash(), siblingAddress: slice.hash() };
}
