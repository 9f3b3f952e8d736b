import type { BlockId } from '../decode/block-id.ts';
import { getBlockHeader, getBlockProof } from '../liteserver/functions.ts';
import type { PartialBlockProof } from '../proof/answers.ts';
import type { BlockProofRequest, TrustChain, TrustChainDependencies } from '../proof/trust-chain.ts';
import { abandonment, PoolError } from './errors.ts';
import { checkHeadHeader } from './head-proof.ts';
import type { Head, Tip } from './head.ts';
import type { PoolOptions } from './options.ts';
import type { PoolContext, Reads } from './reads.ts';

/** Bits of getBlockProof's mode (service/liteserver/README.md#mode-bits): the target is given; the chain is based on the newer of both blocks. */
const GIVEN_TARGET = 0x1;
const FROM_NEWER = 0x1000;

/** Bit of getBlockHeader's mode: include the state update, whose new hash is the state after the block. */
const WITH_STATE_UPDATE = 0x1;

/** Proves masterchain blocks by reads over the pool's lite servers. */
export type HeadProver = {
  /**
   * Resolves when the masterchain block is accepted by the trust chain; at once under trust `none`. Rejects with ProofError when it is no block of
   * the network, else like `Reads.query`.
   */
  readonly accept: (block: BlockId, context: PoolContext) => Promise<void>;
  /**
   * Accepts a block and reads its header. The header is checked under every trust setting: it is cheap and gives the time and the state hash. Rejects
   * like `accept`.
   */
  readonly prove: (tip: Tip, context: PoolContext) => Promise<Head>;
  /** Ends the trust chain. Later blocks reject with PoolError `closed`. */
  close(): Promise<void>;
};

export type HeadProverDependencies = {
  readonly reads: Pick<Reads, 'query'>;
  /** Creates the trust chain over the pool's own lite servers; not called under trust `none`. The prover closes it. */
  readonly createTrustChain: (fetchProof: TrustChainDependencies['fetchProof']) => TrustChain;
  readonly now: () => number;
};

export function createHeadProver(
  { trust, zeroState }: Pick<PoolOptions, 'trust' | 'zeroState'>,
  { reads, createTrustChain, now }: HeadProverDependencies,
): HeadProver {
  const trustChain = trust === 'none' ? undefined : createTrustChain(fetchProof);
  let closed = false;

  function fetchProof<T>(
    { known, target }: BlockProofRequest,
    check: (answer: PartialBlockProof) => Promise<T>,
    context: PoolContext,
  ): Promise<T> {
    const args = { mode: GIVEN_TARGET | FROM_NEWER, knownBlock: known, targetBlock: target };
    return reads.query(getBlockProof, args, context, { check }).then(({ value }) => value);
  }

  async function accept(block: BlockId, context: PoolContext): Promise<void> {
    if (closed) throw new PoolError('closed');
    if (trustChain === undefined || trustChain.isAccepted(block)) return;
    const signal = AbortSignal.any([
      context.signal,
      AbortSignal.timeout(Math.max(0, Math.ceil(context.deadlineMs - now()))),
    ]);
    try {
      await trustChain.accept(block, { ...context, signal });
    } catch (error) {
      throw signal.aborted ? abandonment(signal) : error;
    }
  }

  return {
    accept,
    async prove({ block }, context) {
      const [header] = await Promise.all([
        reads.query(getBlockHeader, { id: block, mode: WITH_STATE_UPDATE }, context, {
          check: (answer) => checkHeadHeader(block, answer),
          masterchainSeqno: block.seqno,
        }),
        accept(block, context),
      ]);
      return { ...header.value, init: zeroState };
    },
    async close() {
      closed = true;
      await trustChain?.close();
    },
  };
}
