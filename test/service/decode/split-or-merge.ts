import {
  beginCell,
  storeSplitMergeInfo,
  storeTransactionActionPhase,
  storeTransactionComputePhase,
  storeTransactionCreditPhase,
  storeTransactionsStoragePhase,
} from '@ton/core';
import type {
  Cell,
  SplitMergeInfo,
  TransactionActionPhase,
  TransactionComputePhase,
  TransactionCreditPhase,
  TransactionStoragePhase,
} from '@ton/core';

/** Description of one of the four kinds that @ton/core does not write like block.tlb, or at all. */
export type SplitOrMerge = { type: 'split-prepare' | 'split-install' | 'merge-prepare' | 'merge-install' } & {
  splitInfo: SplitMergeInfo;
  storagePhase?: TransactionStoragePhase;
  creditPhase?: TransactionCreditPhase;
  computePhase?: TransactionComputePhase;
  actionPhase?: TransactionActionPhase;
  installed?: boolean;
  aborted?: boolean;
  destroyed?: boolean;
};

/** Writes the four kinds, field after field like block.tlb. */
export function writeSplitOrMerge(descr: SplitOrMerge, prepare: Cell): Cell {
  const kind = ['split-prepare', 'split-install', 'merge-prepare', 'merge-install'].indexOf(descr.type);
  const installs = descr.type === 'split-install' || descr.type === 'merge-install';
  const optional = descr.type === 'split-prepare' || descr.type === 'merge-install';
  const builder = beginCell()
    .storeUint(4 + kind, 4)
    .store(storeSplitMergeInfo(descr.splitInfo));
  if (installs) builder.storeRef(prepare);
  if (optional) builder.storeBit(descr.storagePhase !== undefined);
  if (descr.storagePhase) builder.store(storeTransactionsStoragePhase(descr.storagePhase));
  if (descr.type === 'merge-install') builder.storeBit(descr.creditPhase !== undefined);
  if (descr.creditPhase) builder.store(storeTransactionCreditPhase(descr.creditPhase));
  if (descr.computePhase) {
    builder.store(storeTransactionComputePhase(descr.computePhase)).storeBit(descr.actionPhase !== undefined);
  }
  if (descr.actionPhase) builder.storeRef(beginCell().store(storeTransactionActionPhase(descr.actionPhase)));
  for (const flag of [descr.installed, descr.aborted, descr.destroyed]) if (flag !== undefined) builder.storeBit(flag);
  return builder.endCell();
}
