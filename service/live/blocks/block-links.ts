import type { BlockId } from '#service/decode/block-id.ts';
import { sameBlock } from '#service/decode/block-id.ts';
import { getBlockProof } from '#service/liteserver/functions.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { BackLink, BlockLink, ForwardLink, PartialBlockProof } from '#service/proof/answers.ts';
import { checkBlockProof } from '#service/proof/block-proof.ts';
import { ProofError } from '#service/proof/errors.ts';
import type { SignatureChecker } from '#service/proof/signature-checker.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';

/** Two masterchain blocks that are accepted already, and the network's zerostate as block 0. */
export type BlockPair = { readonly known: BlockId; readonly target: BlockId; readonly zeroState: BlockId };

/** Links of block proofs, for callers that want to see them: all are checked. Rejects as `Pool.query` does. */
export type BlockLinks = {
  /** The link to `target` from its key block: it carries the signatures under `target`. `known` is earlier. */
  readForwardLink(pair: BlockPair, context: ReadContext): Promise<LiveAnswer<ForwardLink>>;
  /** The single link from `known` back to `target`. */
  readBackLink(pair: BlockPair, context: ReadContext): Promise<LiveAnswer<BackLink>>;
};

/** Bits of getBlockProof's mode: a target is given; the newer of both blocks is the base (service/liteserver/README.md#mode-bits). */
const TO_TARGET_FROM_NEWER = 0x1001;

export function createBlockLinks({ pool, signatures }: { pool: Pool; signatures: SignatureChecker }): BlockLinks {
  function read<L extends BlockLink>(
    { known, target, zeroState }: BlockPair,
    context: ReadContext,
    pick: { readonly shareAs: string; readonly from: (answer: PartialBlockProof) => L },
  ): Promise<LiveAnswer<L>> {
    const args = { mode: TO_TARGET_FROM_NEWER, knownBlock: known, targetBlock: target };
    return pool.query(getBlockProof, args, context, {
      shareAs: pick.shareAs,
      immutable: true,
      check: async (answer) => {
        const { reached } = await checkBlockProof({ known, target, zeroState }, answer, signatures);
        if (!sameBlock(reached, target)) throw refusal('a whole chain', answer);
        return pick.from(answer);
      },
    });
  }

  return {
    readForwardLink: (pair, context) => read(pair, context, { shareAs: 'forward link', from: forwardLink }),
    readBackLink: (pair, context) => read(pair, context, { shareAs: 'back link', from: backLink }),
  };
}

function forwardLink(answer: PartialBlockProof): ForwardLink {
  const last = answer.steps.at(-1);
  if (last?.kind !== 'forward') throw refusal('signatures at the end', answer);
  return last;
}

function backLink(answer: PartialBlockProof): BackLink {
  const [only, more] = answer.steps;
  if (only?.kind !== 'back' || more !== undefined) throw refusal('one link back', answer);
  return only;
}

function refusal(expected: string, { steps }: PartialBlockProof): ProofError {
  return new ProofError('no_progress', { subject: 'blockProof.steps', expected, found: `${steps.length} links` });
}
