import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { checkAccountState } from './account-proof.ts';
import { checkBlockData } from './block-data-proof.ts';
import { checkBlockTransactions, checkBlockTransactionsExt } from './block-transactions-proof.ts';
import { checkConfig } from './config-proof.ts';
import { checkBlockHeader } from './header-proof.ts';
import { checkLibraries, checkLibrariesWithProof } from './library-proof.ts';
import { checkLookup, checkLookupWithProof } from './lookup-proof.ts';
import type { ProofMetrics } from './metrics.ts';
import { createProofMetrics } from './metrics.ts';
import { checkShardBlockProof } from './shard-links.ts';
import { checkShardInfo } from './shard-proof.ts';
import { checkAllShards } from './shards-proof.ts';
import type { SignatureCheckerOptions } from './signature-checker.ts';
import { createSignatureChecker } from './signature-checker.ts';
import { checkTransactionList } from './transaction-list-proof.ts';
import { checkTransaction } from './transaction-proof.ts';
import type { TrustChain, TrustChainDependencies, TrustChainOptions } from './trust-chain.ts';
import { createTrustChain } from './trust-chain.ts';

/** The checks of section 8 of the lite server sheet, each counted and timed under its name. */
export type ProofChecks = typeof CHECKS;

/** What the service verifies answers with. */
export type Proof = {
  /** Pure checks of single answers against an asked block; they throw ProofError. */
  readonly checks: ProofChecks;
  /** Says which masterchain blocks are of the network. */
  readonly trustChain: TrustChain;
  close(): Promise<void>;
};

export type ProofOptions = { readonly trustChain: TrustChainOptions; readonly signatures?: SignatureCheckerOptions };

export type ProofDependencies = Pick<TrustChainDependencies, 'fetchProof'> & {
  readonly register: Registry;
  readonly logger: Logger;
};

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

/** Wires the checks, the signature threads and the chain of trusted blocks. */
export function createProof(options: ProofOptions, dependencies: ProofDependencies): Proof {
  const { register, logger, fetchProof } = dependencies;
  const metrics = createProofMetrics(register);
  const signatures = createSignatureChecker(options.signatures ?? {}, { register, logger });
  const trustChain = createTrustChain(options.trustChain, { fetchProof, signatures, metrics, register, logger });
  return {
    checks: measured(metrics),
    trustChain,
    async close() {
      await trustChain.close();
      await signatures.close();
    },
  };
}

function measured(metrics: ProofMetrics): ProofChecks {
  const entries = Object.entries(CHECKS as Record<string, (...args: never[]) => unknown>).map(([name, check]) => {
    const kind = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [name, (...args: never[]) => metrics.measure(kind, () => check(...args))];
  });
  return Object.fromEntries(entries) as ProofChecks;
}
