import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { DecodeError } from '../errors.ts';
import {
  readActionPhase,
  readBouncePhase,
  readComputePhase,
  readCreditPhase,
  readSplitMergeInfo,
  readStoragePhase,
} from './transaction-phases.ts';
import type {
  ActionPhase,
  BouncePhase,
  ComputePhase,
  CreditPhase,
  SplitMergeInfo,
  StoragePhase,
} from './transaction-phases.ts';

/** Description of a transaction, by its cause. */
export type TransactionDescr =
  | OrdinaryDescr
  | StorageDescr
  | TickTockDescr
  | SplitPrepareDescr
  | SplitInstallDescr
  | MergePrepareDescr
  | MergeInstallDescr;

/** Description of a transaction caused by a message. */
export type OrdinaryDescr = {
  readonly kind: 'ordinary';
  readonly creditFirst: boolean;
  readonly storage: StoragePhase | undefined;
  readonly credit: CreditPhase | undefined;
  readonly compute: ComputePhase;
  readonly action: ActionPhase | undefined;
  readonly aborted: boolean;
  readonly bounce: BouncePhase | undefined;
  readonly destroyed: boolean;
};

/** Description of a transaction that collects storage fees only. */
export type StorageDescr = { readonly kind: 'storage'; readonly storage: StoragePhase };

/** Description of a transaction caused by the start or the end of a masterchain block. */
export type TickTockDescr = {
  readonly kind: 'tickTock';
  readonly isTock: boolean;
  readonly storage: StoragePhase;
  readonly compute: ComputePhase;
  readonly action: ActionPhase | undefined;
  readonly aborted: boolean;
  readonly destroyed: boolean;
};

/** Description of a transaction before an account's shard is split. */
export type SplitPrepareDescr = {
  readonly kind: 'splitPrepare';
  readonly splitInfo: SplitMergeInfo;
  readonly storage: StoragePhase | undefined;
  readonly compute: ComputePhase;
  readonly action: ActionPhase | undefined;
  readonly aborted: boolean;
  readonly destroyed: boolean;
};

/** Description of a transaction in the new half of a split account; `prepareTransaction` is a cell. */
export type SplitInstallDescr = {
  readonly kind: 'splitInstall';
  readonly splitInfo: SplitMergeInfo;
  readonly prepareTransaction: number;
  readonly installed: boolean;
};

/** Description of a transaction in the half that a merge removes. */
export type MergePrepareDescr = {
  readonly kind: 'mergePrepare';
  readonly splitInfo: SplitMergeInfo;
  readonly storage: StoragePhase;
  readonly aborted: boolean;
};

/** Description of a transaction in the half that a merge leaves; `prepareTransaction` is a cell. */
export type MergeInstallDescr = {
  readonly kind: 'mergeInstall';
  readonly splitInfo: SplitMergeInfo;
  readonly prepareTransaction: number;
  readonly storage: StoragePhase | undefined;
  readonly credit: CreditPhase | undefined;
  readonly compute: ComputePhase;
  readonly action: ActionPhase | undefined;
  readonly aborted: boolean;
  readonly destroyed: boolean;
};

/** `TransactionDescr` of block.tlb, with a reader for each constructor. Throws DecodeError `bad_tag` for another. */
export function readTransactionDescr(table: CellTable, cell: number): TransactionDescr {
  const slice = new CellSlice(table, cell);
  const tag = slice.uint(4);
  switch (tag) {
    case 0:
      return readOrdinary(slice);
    case 1:
      return { kind: 'storage', storage: readStoragePhase(slice) };
    case 2:
    case 3:
      return readTickTock(slice, tag === 3);
    case 4:
      return readSplitPrepare(slice);
    case 5:
      return {
        kind: 'splitInstall',
        splitInfo: readSplitMergeInfo(slice),
        prepareTransaction: slice.ref(),
        installed: slice.bit(),
      };
    case 6:
      return {
        kind: 'mergePrepare',
        splitInfo: readSplitMergeInfo(slice),
        storage: readStoragePhase(slice),
        aborted: slice.bit(),
      };
    case 7:
      return readMergeInstall(slice);
    default:
      throw new DecodeError('bad_tag', 'The cell is no TransactionDescr.', {
        cell,
        type: 'TransactionDescr',
        found: tag,
      });
  }
}

function maybeAction(slice: CellSlice): ActionPhase | undefined {
  return slice.bit() ? readActionPhase(slice.table, slice.ref()) : undefined;
}

/**
 * `trans_ord$0000 credit_first:Bool storage_ph:(Maybe TrStoragePhase) credit_ph:(Maybe TrCreditPhase)
 * compute_ph:TrComputePhase action:(Maybe ^TrActionPhase) aborted:Bool bounce:(Maybe TrBouncePhase) destroyed:Bool`.
 */
function readOrdinary(slice: CellSlice): OrdinaryDescr {
  return {
    kind: 'ordinary',
    creditFirst: slice.bit(),
    storage: slice.bit() ? readStoragePhase(slice) : undefined,
    credit: slice.bit() ? readCreditPhase(slice) : undefined,
    compute: readComputePhase(slice),
    action: maybeAction(slice),
    aborted: slice.bit(),
    bounce: slice.bit() ? readBouncePhase(slice) : undefined,
    destroyed: slice.bit(),
  };
}

/**
 * `trans_tick_tock$001 is_tock:Bool storage_ph:TrStoragePhase compute_ph:TrComputePhase action:(Maybe ^TrActionPhase)
 * aborted:Bool destroyed:Bool`.
 */
function readTickTock(slice: CellSlice, isTock: boolean): TickTockDescr {
  return {
    kind: 'tickTock',
    isTock,
    storage: readStoragePhase(slice),
    compute: readComputePhase(slice),
    action: maybeAction(slice),
    aborted: slice.bit(),
    destroyed: slice.bit(),
  };
}

/**
 * `trans_split_prepare$0100 split_info:SplitMergeInfo storage_ph:(Maybe TrStoragePhase) compute_ph:TrComputePhase
 * action:(Maybe ^TrActionPhase) aborted:Bool destroyed:Bool`.
 */
function readSplitPrepare(slice: CellSlice): SplitPrepareDescr {
  return {
    kind: 'splitPrepare',
    splitInfo: readSplitMergeInfo(slice),
    storage: slice.bit() ? readStoragePhase(slice) : undefined,
    compute: readComputePhase(slice),
    action: maybeAction(slice),
    aborted: slice.bit(),
    destroyed: slice.bit(),
  };
}

/**
 * `trans_merge_install$0111 split_info:SplitMergeInfo prepare_transaction:^Transaction storage_ph:(Maybe TrStoragePhase)
 * credit_ph:(Maybe TrCreditPhase) compute_ph:TrComputePhase action:(Maybe ^TrActionPhase) aborted:Bool destroyed:Bool`.
 */
function readMergeInstall(slice: CellSlice): MergeInstallDescr {
  return {
    kind: 'mergeInstall',
    splitInfo: readSplitMergeInfo(slice),
    prepareTransaction: slice.ref(),
    storage: slice.bit() ? readStoragePhase(slice) : undefined,
    credit: slice.bit() ? readCreditPhase(slice) : undefined,
    compute: readComputePhase(slice),
    action: maybeAction(slice),
    aborted: slice.bit(),
    destroyed: slice.bit(),
  };
}
