import { checkAccountState } from './account-proof.ts';
import { checkBlockData } from './block-data-proof.ts';
import { checkBlockTransactions, checkBlockTransactionsExt } from './block-transactions-proof.ts';
import { checkConfig } from './config-proof.ts';
import { checkBlockHeader } from './header-proof.ts';
import { checkLibraries, checkLibrariesWithProof } from './library-proof.ts';
import { checkLookup, checkLookupWithProof } from './lookup-proof.ts';
import type { ProofMetrics } from './metrics.ts';
import { checkShardBlockProof } from './shard-links.ts';
import { checkShardInfo } from './shard-proof.ts';
import { checkAllShards } from './shards-proof.ts';
import { checkTransactionList } from './transaction-list-proof.ts';
import { checkTransaction } from './transaction-proof.ts';

const CHECKS = {
  accountState: checkAccountState,
  allShards: checkAllShards,
  blockData: checkBlockData,
  blockHeader: checkBlockHeader,
  blockTransactions: checkBlockTransactions,
  blockTransactionsExt: checkBlockTransactionsExt,
  config: checkConfig,
  libraries: checkLibraries,
  librariesWithProof: checkLibrariesWithProof,
  lookup: checkLookup,
  lookupWithProof: checkLookupWithProof,
  shardBlockProof: checkShardBlockProof,
  shardInfo: checkShardInfo,
  transaction: checkTransaction,
  transactionList: checkTransactionList,
} as const;

/** The checks of the lite server sheet, section 8, by kind of answer. */
export type ProofChecks = typeof CHECKS;

/** Pure checks of single answers against an asked block. They throw ProofError, and count and time themselves by kind. */
export function createProofChecks({ metrics }: { readonly metrics: ProofMetrics }): ProofChecks {
  const entries = Object.entries(CHECKS as Record<string, (...args: never[]) => unknown>).map(([name, check]) => {
    const kind = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [name, (...args: never[]) => metrics.measure(kind, () => check(...args))];
  });
  return Object.fromEntries(entries) as ProofChecks;
}
