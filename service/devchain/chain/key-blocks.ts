import type { Chain } from './chain.ts';

/** Returns the seqno of the last key block up to `seqno`; 0 (the zerostate) when there is none. */
export function previousKeyBlock(chain: Chain, seqno: number): number {
  return chain.keyBlocks.findLast((key) => key <= seqno) ?? 0;
}

/** Seqno of the first key block above `seqno` and not above `tip`. */
export function nextKeyBlock(chain: Chain, seqno: number, tip: number): number | undefined {
  return chain.keyBlocks.find((key) => key > seqno && key <= tip);
}
