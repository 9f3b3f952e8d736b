import { FULL_SHARD, MASTERCHAIN, sameBlock } from '#service/decode/block-id.ts';
import type { BlockId } from '#service/decode/block-id.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { shardsIntersect } from '#service/decode/shard.ts';
import type { ArgsOf } from '#service/liteserver/functions.ts';
import type { getAllShardsInfo, getShardBlockProof, getShardInfo } from '#service/liteserver/functions.ts';
import type { AllShardsInfo, ShardBlockProof, ShardInfo } from '#service/liteserver/tl/lite-api.ts';
import type { ChainBlock } from '../chain/chain.ts';
import { refusal, serverCode } from '../chain/errors.ts';
import { visitHeader, visitHeaderAndState } from '../chain/header-proof.ts';
import { answerBoc } from '../chain/proof-builder.ts';
import { findShardLeaf } from '../chain/shards.ts';
import type { ChainView } from '../chain/chain-view.ts';
import { findBlock, isValidId, needMasterchainBlock, noBlock, visitBlock, visitState } from '../chain/chain-view.ts';
import type { VisitedCells } from '../collator/visited-cells.ts';
import { openMasterchainBlock, openMasterchainState } from '../chain/open-as-node.ts';
import type { QueryHandlers } from './query-handlers.ts';

/** Most links from a masterchain block down to a shard block. A shard makes no more blocks in one masterchain interval. */
const LINKS_MAX = 8;

function answerShardInfo(view: ChainView, { id, workchain, shard, exact }: ArgsOf<typeof getShardInfo>): ShardInfo {
  if (workchain === -0x80000000) throw refusal(serverCode.fatal, 'requested shard is invalid');
  const block = needMasterchainBlock(view, id);
  const state = visitState(view, block);
  const { shardHashes } = openMasterchainState(state, state.root);
  const top = findShardLeaf(state, shardHashes, workchain, shard, exact);
  return {
    id: block.id,
    shardBlock: top?.block ?? noBlock,
    shardProof: answerBoc(visitHeaderAndState(view, block), state),
    shardDescr: top === undefined ? Buffer.alloc(0) : answerBoc({ table: view.chain.states, cell: top.leaf }),
  };
}

function answerAllShardsInfo(view: ChainView, { id }: ArgsOf<typeof getAllShardsInfo>): AllShardsInfo {
  const block = needMasterchainBlock(view, id);
  const tree = visitBlock(view, block);
  const { shardHashes } = openMasterchainBlock(tree, tree.root);
  return { id: block.id, proof: answerBoc(tree), data: dictionaryBoc(tree, shardHashes) };
}

/** Returns a bag of one cell with the dictionary: its bit and its root. */
function dictionaryBoc(tree: VisitedCells, root: number | undefined): Buffer {
  const store = createCellStore();
  const refs = root === undefined ? [] : [store.import(tree.source, root)];
  const cell = store.add({ data: Buffer.from([root === undefined ? 0 : 0x80]), bitLength: 1, refs });
  return writeBoc(store, [cell]);
}

function answerShardBlockProof(view: ChainView, { id }: ArgsOf<typeof getShardBlockProof>): ShardBlockProof {
  if (!isValidId(id)) throw refusal(serverCode.fatal, 'invalid block id');
  if (id.workchain === MASTERCHAIN) return { masterchainId: id, links: [] };
  const { masterchainId, links } = linksTo(view, findBlock(view, id));
  return { masterchainId, links };
}

type Links = {
  /** The masterchain block that first has the shard block in its history. */
  readonly masterchainId: BlockId;
  readonly links: { readonly id: BlockId; readonly proof: Buffer }[];
};

/** Returns links from the masterchain down to a shard block. Each link proves that the block before it names the next block. */
export function linksTo(view: ChainView, block: ChainBlock): Links {
  const start = view.chain.masterchain(block.masterchainSeqno)!;
  const links: { id: BlockId; proof: Buffer }[] = [];
  for (let current = start; !sameBlock(current.id, block.id);) {
    if (links.length === LINKS_MAX) throw refusal(serverCode.fatal, 'proof chain is too long');
    const tree = visitBlock(view, current);
    const next = current === start ? topTowards(tree, block.id) : previousTowards(tree, current, block.id);
    links.push({ id: next, proof: answerBoc(tree) });
    current = view.chain.find(next)!;
  }
  return { masterchainId: start.id, links };
}

/** Returns the masterchain's newest block in the shard. For a shard that has split since, it returns the leftmost block below. */
function topTowards(tree: VisitedCells, { workchain, shard }: BlockId): BlockId {
  const below = shard === FULL_SHARD ? 1n : shard | 1n;
  const { shardHashes } = openMasterchainBlock(tree, tree.root);
  const top = findShardLeaf(tree, shardHashes, workchain, below, false);
  if (top === undefined) throw refusal(serverCode.fatal, 'shard not found');
  return top.block;
}

function previousTowards(tree: VisitedCells, current: ChainBlock, target: BlockId): BlockId {
  visitHeader(tree);
  const next = current.previous.find((id) => shardsIntersect(id.shard, target.shard));
  if (next === undefined) throw refusal(serverCode.fatal, 'failed to find block chain');
  return next;
}

/** Handlers of shards. */
export const shardQueries = {
  getShardInfo: answerShardInfo,
  getAllShardsInfo: answerAllShardsInfo,
  getShardBlockProof: answerShardBlockProof,
} satisfies Partial<QueryHandlers>;
