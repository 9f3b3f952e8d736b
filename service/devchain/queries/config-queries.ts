import type { BlockId } from '#service/decode/block-id.ts';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { findConfigParam } from '#service/decode/tlb/config-params.ts';
import { findOldMasterchainBlock } from '#service/decode/tlb/old-masterchain-blocks.ts';
import type { ArgsOf } from '#service/liteserver/functions.ts';
import type { getConfigAll, getConfigParams } from '#service/liteserver/functions.ts';
import type { ConfigInfo } from '#service/liteserver/tl/lite-api.ts';
import type { ChainBlock } from '../chain/chain.ts';
import { refusal, serverCode } from '../chain/errors.ts';
import { visitHeader, visitHeaderAndState } from '../chain/header-proof.ts';
import { previousKeyBlock } from '../chain/key-blocks.ts';
import { answerBoc } from '../chain/proof-builder.ts';
import type { ChainView } from '../chain/chain-view.ts';
import { idText, isValidId, needMasterchainBlock, tipBlock, visitBlock, visitState } from '../chain/chain-view.ts';
import type { VisitedCells } from '../collator/visited-cells.ts';
import { openMasterchainBlock, openMasterchainState } from '../chain/open-as-node.ts';
import type { QueryHandlers } from './query-handlers.ts';

/** Extra content that a mode's low bits request besides the parameters (`ConfigInfo::need...`). */
const needs = {
  validatorSet: 16,
  specialContracts: 32,
  previousBlocks: 128,
  workchains: 256,
  capabilities: 512,
  /** Take the configuration of the previous key block. */
  keyBlock: 0x8000,
} as const;

type Answer = ConfigInfo;

/** Requested parameters of the configuration. */
type Wanted = 'all' | readonly number[];

function answerConfigAll(view: ChainView, { mode, id }: ArgsOf<typeof getConfigAll>): Answer {
  return answerConfig(view, id, mode & 0xffff, 'all');
}

function answerConfigParams(view: ChainView, { mode, id, paramList }: ArgsOf<typeof getConfigParams>): Answer {
  return answerConfig(view, id, mode & 0xffff, paramList);
}

function answerConfig(view: ChainView, id: BlockId, mode: number, wanted: Wanted): Answer {
  if (id.workchain !== MASTERCHAIN || !isValidId(id)) {
    throw refusal(serverCode.fatal, 'configuration parameters can be loaded with respect to a masterchain block only');
  }
  if ((mode & needs.keyBlock) !== 0) return fromKeyBlock(view, keyBlockBefore(view, id), mode, wanted);
  const block = needMasterchainBlock(view, id);
  const state = visitState(view, block);
  const { config, prevBlocks } = openMasterchainState(state, state.root);
  visitConfig(state, config.root, mode, wanted);
  if ((mode & needs.previousBlocks) !== 0) visitRecentBlocks(state, prevBlocks, block.id.seqno);
  return {
    mode,
    id: block.id,
    stateProof: answerBoc(visitHeaderAndState(view, block)),
    configProof: answerBoc(state),
  };
}

function keyBlockBefore(view: ChainView, id: BlockId): ChainBlock {
  const tip = tipBlock(view);
  if (id.seqno > view.tip) {
    throw refusal(
      serverCode.generic,
      `client knows block ${idText(id)} newer than the reference masterchain block ${idText(tip.id)}`,
    );
  }
  if (id.seqno > 0 && view.chain.find(id) === undefined) {
    throw refusal(
      serverCode.generic,
      `requested masterchain block ${idText(id)} is unknown from the perspective of reference block ${idText(tip.id)}`,
    );
  }
  const seqno = previousKeyBlock(view.chain, id.seqno);
  if (seqno === 0)
    throw refusal(serverCode.notReady, `cannot load block ${idText(view.chain.zeroStates[0]!.id)} : not in db`);
  return view.chain.masterchain(seqno)!;
}

function fromKeyBlock(view: ChainView, block: ChainBlock, mode: number, wanted: Wanted): Answer {
  const tree = visitBlock(view, block);
  visitHeader(tree);
  const { config } = openMasterchainBlock(tree, tree.root);
  visitConfig(tree, config!.root, mode, wanted);
  return { mode, id: block.id, stateProof: Buffer.alloc(0), configProof: answerBoc(tree) };
}

function visitConfig(tree: VisitedCells, config: number, mode: number, wanted: Wanted): void {
  if ((mode & needs.validatorSet) !== 0) visitValidators(tree, config);
  if ((mode & needs.specialContracts) !== 0) openParameter(tree, config, 31);
  if ((mode & needs.workchains) !== 0) openWhole(tree, config, 12);
  if ((mode & (needs.capabilities | needs.previousBlocks)) !== 0) openParameter(tree, config, 8);
  if (wanted === 'all') tree.openAll(config);
  else for (const parameter of wanted) openWhole(tree, config, parameter);
}

/** Opens the current validator set: parameter 35 if present, else 34. */
export function visitValidators(tree: VisitedCells, config: number): void {
  const cell = findConfigParam(tree, config, 35) ?? findConfigParam(tree, config, 34);
  if (cell !== undefined) tree.openAll(cell);
}

/** Opens the way to a parameter and its cell. */
export function openParameter(tree: VisitedCells, config: number, parameter: number): void {
  const cell = findConfigParam(tree, config, parameter);
  if (cell !== undefined) tree.open(cell);
}

function openWhole(tree: VisitedCells, config: number, parameter: number): void {
  const cell = findConfigParam(tree, config, parameter);
  if (cell !== undefined) tree.openAll(cell);
}

/**
 * Visits the blocks that a contract may read: the last 16, and 16 whose seqno is a multiple of 100. The hundreds are visible from global
 * version 9 on. The node also looks up the zerostate whenever it opens the list of earlier blocks.
 */
function visitRecentBlocks(tree: VisitedCells, prevBlocks: number | undefined, seqno: number): void {
  const hundred = seqno - (seqno % 100);
  const recent = Array.from({ length: 15 }, (_, back) => seqno - 1 - back);
  const hundreds = Array.from({ length: 16 }, (_, back) => hundred - 100 * back);
  for (const wanted of [0, ...recent, ...hundreds]) {
    if (wanted >= 0 && wanted < seqno) findOldMasterchainBlock(tree, prevBlocks, wanted);
  }
}

/** Handlers of the configuration. */
export const configQueries = {
  getConfigAll: answerConfigAll,
  getConfigParams: answerConfigParams,
} satisfies Partial<QueryHandlers>;
