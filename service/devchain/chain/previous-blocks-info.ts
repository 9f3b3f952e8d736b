import type { BlockId } from '#service/decode/block-id.ts';
import { previousBlocksTuple } from '#service/tvm/previous-blocks.ts';
import { encodeStackEntry } from '#service/tvm/stack-writer.ts';
import type { Chain } from './chain.ts';

/** Blocks in each list that contracts see. */
const LIST_MAX = 16;

/** Returns the contracts' view of earlier blocks at masterchain block `seqno`: a bag of cells in base64. */
export function previousBlocksInfo(chain: Chain, seqno: number): string {
  const countDown = (from: number, step: number): BlockId[] => {
    const count = Math.min(LIST_MAX, Math.floor(from / step) + 1);
    return Array.from({ length: count }, (_, index) => chain.masterchainId(from - index * step));
  };
  const lastKeyBlock = chain.masterchainId(chain.keyBlocks.findLast((key) => key <= seqno) ?? 0);
  const blocks = { last: countDown(seqno, 1), lastKeyBlock, lastHundreds: countDown(seqno - (seqno % 100), 100) };
  return encodeStackEntry(previousBlocksTuple(blocks)).toString('base64');
}

/** Returns `previousBlocksInfo` of a chain. It remembers the last view: all messages between two masterchain blocks ask for one. */
export function createPreviousBlocks(chain: Chain): (seqno: number) => string {
  let last: { readonly seqno: number; readonly view: string } | undefined;
  return (seqno) => {
    if (last?.seqno !== seqno) last = { seqno, view: previousBlocksInfo(chain, seqno) };
    return last.view;
  };
}
