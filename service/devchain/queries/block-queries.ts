import { createHash } from 'node:crypto';

import type { BlockId } from '#service/decode/block-id.ts';
import { MASTERCHAIN, sameBlock } from '#service/decode/block-id.ts';
import { BLOCK_FILE_OPTIONS, writeBoc } from '#service/decode/boc-writer.ts';
import type { ArgsOf } from '#service/liteserver/functions.ts';
import type { getBlock, getBlockHeader, getState } from '#service/liteserver/functions.ts';
import type { BlockData, BlockHeader, BlockState } from '#service/liteserver/tl/lite-api.ts';
import type { ChainBlock } from '../chain/chain.ts';
import { refusal, serverCode } from '../chain/errors.ts';
import { visitHeader } from '../chain/header-proof.ts';
import { answerBoc } from '../chain/proof-builder.ts';
import type { ChainView } from '../chain/chain-view.ts';
import { findBlock, isValidId, visitBlock } from '../chain/chain-view.ts';
import { openMasterchainBlock } from '../chain/open-as-node.ts';
import type { QueryHandlers } from './query-handlers.ts';

/** Highest seqno of blocks whose whole state a node sends. It treats later states as too large. */
const STATE_SEQNO_MAX = 1000;

function requireValid(id: BlockId): void {
  if (!isValidId(id)) throw refusal(serverCode.fatal, 'invalid BlockIdExt');
}

function answerBlock(view: ChainView, { id }: ArgsOf<typeof getBlock>): BlockData {
  requireValid(id);
  const signed = view.signed?.find((one) => sameBlock(one.id, id));
  if (signed !== undefined) return { id: signed.id, data: signed.bytes };
  const block = findBlock(view, id);
  return { id: block.id, data: block.bytes };
}

function answerState(view: ChainView, { id }: ArgsOf<typeof getState>): BlockState {
  requireValid(id);
  if (id.seqno > STATE_SEQNO_MAX) throw refusal(serverCode.fatal, 'cannot request total state: possibly too large');
  const zero = view.chain.zeroStates.find((one) => sameBlock(one.id, id));
  if (zero !== undefined) return { id, rootHash: id.rootHash, fileHash: id.fileHash, data: zero.bytes };
  const { states } = view.chain;
  const { state } = findBlock(view, id);
  const data = writeBoc(states, [state], BLOCK_FILE_OPTIONS);
  return { id, rootHash: states.hash(state), fileHash: createHash('sha256').update(data).digest(), data };
}

function answerBlockHeader(view: ChainView, { id, mode }: ArgsOf<typeof getBlockHeader>): BlockHeader {
  requireValid(id);
  return headerOf(view, findBlock(view, id), mode);
}

/** Header bits: 1 state update, 2 value flow, 16 extra, with it in the masterchain 32 shards and 64 signatures. */
export function headerOf(view: ChainView, block: ChainBlock, mode: number): BlockHeader {
  const tree = visitBlock(view, block);
  const { valueFlow, stateUpdate, extra } = visitHeader(tree);
  if ((mode & 1) !== 0) tree.open(stateUpdate);
  if ((mode & 2) !== 0) tree.openAll(valueFlow);
  if ((mode & 16) !== 0) {
    tree.open(extra);
    if (block.id.workchain === MASTERCHAIN) {
      const { shardHashes, prevBlockSignatures } = openMasterchainBlock(tree, tree.root);
      if ((mode & 32) !== 0 && shardHashes !== undefined) tree.openAll(shardHashes);
      if ((mode & 64) !== 0 && prevBlockSignatures !== undefined) tree.openAll(prevBlockSignatures);
    }
  }
  return { id: block.id, mode, headerProof: answerBoc(tree) };
}

/** Handlers of blocks. */
export const blockQueries = {
  getBlock: answerBlock,
  getState: answerState,
  getBlockHeader: answerBlockHeader,
} satisfies Partial<QueryHandlers>;
