import { MASTERCHAIN, sameBlock } from '#service/decode/block-id.ts';
import type { BlockId } from '#service/decode/block-id.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readBlockInfo } from '#service/decode/tlb/block-info.ts';
import { findOldMasterchainBlock } from '#service/decode/tlb/old-masterchain-blocks.ts';
import type { ArgsOf } from '#service/liteserver/functions.ts';
import type { getBlockProof } from '#service/liteserver/functions.ts';
import type { PartialBlockProof } from '#service/liteserver/tl/lite-api.ts';
import { openParameter, visitValidators } from './config-queries.ts';
import { refusal, serverCode } from '../chain/errors.ts';
import { visitHeaderAndState, visitInfo } from '../chain/header-proof.ts';
import { nextKeyBlock, previousKeyBlock } from '../chain/key-blocks.ts';
import { answerBoc } from '../chain/proof-builder.ts';
import type { ChainView } from '../chain/chain-view.ts';
import { findBlock, idText, isValidId, tipBlock, visitBlock, visitState } from '../chain/chain-view.ts';
import { VisitedCells } from '../collator/visited-cells.ts';
import { openMasterchainBlock, openMasterchainState } from '../chain/open-as-node.ts';
import type { QueryHandlers } from './query-handlers.ts';

/** Links of one answer. The client continues from their end. */
const LINKS_MAX = 16;

type Args = ArgsOf<typeof getBlockProof>;
type Answer = PartialBlockProof;
type Link = Answer['steps'][number];

/**
 * Returns the links from the known block to the target. A link to an earlier block uses a state's list of blocks. Forward links start at a
 * key block; from another block the first link goes back to its key block. Forward links lead over key blocks by signatures
 * (service/proof/README.md#key-block-chain).
 */
function answerBlockProof(view: ChainView, { mode, knownBlock, targetBlock }: Args): Answer {
  const target = targetBlock ?? tipBlock(view).id;
  requireMasterchain(knownBlock, 'source');
  requireMasterchain(target, 'destination');
  const base = (mode & 0x1001) === 0x1001 ? laterOf(view, knownBlock, target) : tipBlock(view).id;
  requireKnown(view, base, knownBlock, 'source');
  requireKnown(view, base, target, 'destination');
  const steps: Link[] = [];
  let from = knownBlock;
  while (steps.length < LINKS_MAX && !sameBlock(from, target)) {
    const link = makeLink(view, from, target, base.seqno);
    steps.push(link);
    from = link.to;
  }
  return { complete: sameBlock(from, target), from: knownBlock, to: from, steps };
}

function requireMasterchain(id: BlockId, role: 'source' | 'destination'): void {
  if (id.workchain === MASTERCHAIN && isValidId(id)) return;
  throw refusal(serverCode.fatal, `${role} block ${idText(id)} is not a valid masterchain block id`);
}

function laterOf(view: ChainView, known: BlockId, target: BlockId): BlockId {
  const later = known.seqno > target.seqno ? known : target;
  return later.seqno === 0 ? later : findBlock(view, later).id;
}

function requireKnown(view: ChainView, base: BlockId, id: BlockId, role: 'source' | 'destination'): void {
  if (id.seqno > base.seqno) {
    throw refusal(
      serverCode.fatal,
      `client knows block ${idText(id)} newer than the reference masterchain block ${idText(base)}`,
    );
  }
  if (sameBlock(id, view.chain.zeroStates[0]!.id) || view.chain.find(id) !== undefined) return;
  throw refusal(
    serverCode.fatal,
    `proof ${role} masterchain block ${idText(id)} is unknown from the perspective of reference block ${idText(base)}`,
  );
}

function makeLink(view: ChainView, from: BlockId, target: BlockId, baseSeqno: number): Link {
  if (from.seqno === target.seqno) {
    throw refusal(
      serverCode.fatal,
      `cannot have two different masterchain blocks ${idText(target)} and ${idText(from)} of the same height`,
    );
  }
  if (target.seqno < from.seqno) return linkBack(view, from, target);
  const keySeqno = previousKeyBlock(view.chain, from.seqno);
  if (keySeqno !== from.seqno) return linkBack(view, from, idOf(view, keySeqno));
  // The node also takes the base's next key block, even when the target is before it.
  const next = nextKeyBlock(view.chain, from.seqno, baseSeqno);
  return linkForward(view, from, next === undefined ? target : idOf(view, next));
}

function idOf(view: ChainView, seqno: number): BlockId {
  return seqno === 0 ? view.chain.zeroStates[0]!.id : view.chain.masterchain(seqno)!.id;
}

function linkBack(view: ChainView, from: BlockId, to: BlockId): Link {
  const block = view.chain.masterchain(from.seqno)!;
  const state = visitState(view, block);
  const { prevBlocks } = openMasterchainState(state, state.root);
  // The node also looks up the zerostate whenever it opens the list of earlier blocks.
  for (const seqno of [0, to.seqno]) findOldMasterchainBlock(state, prevBlocks, seqno);
  const target = view.chain.masterchain(to.seqno);
  return {
    kind: 'back',
    toKeyBlock: target === undefined || target.header.keyBlock,
    from,
    to,
    destProof: target === undefined ? Buffer.alloc(0) : answerBoc(visitInfo(view, target)),
    proof: answerBoc(visitHeaderAndState(view, block)),
    stateProof: answerBoc(state),
  };
}

function linkForward(view: ChainView, from: BlockId, to: BlockId): Link {
  const target = view.chain.masterchain(to.seqno)!;
  const signatures = view.chain.signatures(to.seqno);
  if (signatures === undefined) throw refusal(serverCode.notReady, `cannot load proof for ${idText(to)} : not in db`);
  return {
    kind: 'forward',
    toKeyBlock: target.header.keyBlock,
    from,
    to,
    destProof: answerBoc(visitInfo(view, target)),
    configProof: answerBoc(visitSigners(view, from.seqno)),
    signatures: { ...signatures, signatures: [...signatures.signatures] },
  };
}

/** Visits the signers of the masterchain in the configuration of a key block or the zerostate. They are parameters 34 or 35, and 28. */
function visitSigners(view: ChainView, seqno: number): VisitedCells {
  const block = view.chain.masterchain(seqno);
  const tree =
    block === undefined
      ? new VisitedCells(view.chain.states, view.chain.zeroStates[0]!.state)
      : visitBlock(view, block);
  const config = block === undefined ? openMasterchainState(tree, tree.root).config.root : keyBlockConfig(tree);
  visitValidators(tree, config);
  openParameter(tree, config, 28);
  return tree;
}

function keyBlockConfig(tree: VisitedCells): number {
  readBlockInfo(tree, readBlock(tree, tree.root).info);
  return openMasterchainBlock(tree, tree.root).config!.root;
}

/** Handlers of proofs between blocks. */
export const blockProofQueries = {
  getBlockProof: answerBlockProof,
} satisfies Partial<QueryHandlers>;
