import { MASTERCHAIN, sameBlock } from '#service/decode/block-id.ts';
import type { BlockId } from '#service/decode/block-id.ts';
import { shardContainsPrefix } from '#service/decode/shard.ts';
import { findOldMasterchainBlock } from '#service/decode/tlb/old-masterchain-blocks.ts';
import type { ArgsOf } from '#service/liteserver/functions.ts';
import type { lookupBlock, lookupBlockWithProof } from '#service/liteserver/functions.ts';
import type { BlockHeader, LookupBlockResult } from '#service/liteserver/tl/lite-api.ts';
import { headerOf } from './block-queries.ts';
import type { ChainBlock } from '../chain/chain.ts';
import { refusal, serverCode } from '../chain/errors.ts';
import { visitHeader, visitHeaderAndState, visitInfo } from '../chain/header-proof.ts';
import { answerBoc } from '../chain/proof-builder.ts';
import { linksTo } from './shard-queries.ts';
import type { LookupKey, ChainView } from '../chain/chain-view.ts';
import {
  findBlock,
  isValidId,
  lookUpBlock,
  needMasterchainBlock,
  visitBlock,
  visitState,
} from '../chain/chain-view.ts';
import { openMasterchainState } from '../chain/open-as-node.ts';
import type { QueryHandlers } from './query-handlers.ts';

type Args = ArgsOf<typeof lookupBlock>;

/** Mode bits that select the search key. */
function keyOf({ mode, id, lt, utime }: Pick<Args, 'mode' | 'id' | 'lt' | 'utime'>): LookupKey {
  switch (mode & 7) {
    case 1:
      return { by: 'seqno', value: BigInt(id.seqno) };
    case 2:
      return { by: 'lt', value: BigInt.asUintN(64, lt ?? 0n) };
    case 4:
      return { by: 'utime', value: BigInt(utime ?? 0) };
    default:
      throw refusal(serverCode.fatal, 'exactly one of mode.0, mode.1 and mode.2 bits must be set');
  }
}

export function answerLookup(view: ChainView, args: Args): BlockHeader {
  const block = lookUpBlock(view, args.id.workchain, args.id.shard, keyOf(args));
  return headerOf(view, block, args.mode >> 4);
}

export function answerLookupWithProof(view: ChainView, args: ArgsOf<typeof lookupBlockWithProof>): LookupBlockResult {
  const { mode, id, mcBlockId } = args;
  const key = keyOf(args);
  if (mcBlockId.workchain !== MASTERCHAIN || !isValidId(mcBlockId)) {
    throw refusal(serverCode.fatal, 'masterchain block id must be specified');
  }
  const block = lookUpBlock(view, id.workchain, id.shard, key);
  if (block.masterchainSeqno > mcBlockId.seqno) {
    throw refusal(serverCode.generic, "specified mc block is older than block's masterchain ref");
  }
  const header = visitBlock(view, block);
  visitHeader(header);
  const prevHeader = key.by === 'seqno' ? Buffer.alloc(0) : proveBefore(view, block, id.shard);
  const { masterchainId, links } =
    block.id.workchain === MASTERCHAIN ? { masterchainId: block.id, links: [] } : linksTo(view, block);
  return {
    id: block.id,
    mode,
    mcBlockId: masterchainId,
    ...proveAncestor(view, mcBlockId, masterchainId),
    shardLinks: links,
    header: answerBoc(header),
    prevHeader,
  };
}

/** The header of the block before, on the side of the prefix: shows that the found block is the first. */
function proveBefore(view: ChainView, block: ChainBlock, prefix: bigint): Buffer {
  const id = block.previous.findLast((one) => shardContainsPrefix(one.shard, prefix));
  if (id === undefined) throw refusal(serverCode.fatal, 'failed to choose previous block');
  return answerBoc(visitInfo(view, findBlock(view, id)));
}

/** Proves with the state of the client's masterchain block that an earlier block precedes it. Empty when the blocks are equal. */
function proveAncestor(
  view: ChainView,
  client: BlockId,
  earlier: BlockId,
): { clientMcStateProof: Buffer; mcBlockProof: Buffer } {
  if (sameBlock(client, earlier)) return { clientMcStateProof: Buffer.alloc(0), mcBlockProof: Buffer.alloc(0) };
  const block = needMasterchainBlock(view, client);
  const state = visitState(view, block);
  const { prevBlocks } = openMasterchainState(state, state.root);
  const found = findOldMasterchainBlock(state, prevBlocks, earlier.seqno);
  if (found === undefined || !found.rootHash.equals(earlier.rootHash)) {
    throw refusal(serverCode.generic, 'client mc blkid is not in prev_blocks');
  }
  return { clientMcStateProof: answerBoc(visitHeaderAndState(view, block)), mcBlockProof: answerBoc(state) };
}

/** Handlers of searches for a block. */
export const lookupQueries = {
  lookupBlock: answerLookup,
  lookupBlockWithProof: answerLookupWithProof,
} satisfies Partial<QueryHandlers>;
