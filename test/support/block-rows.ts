import type { BlockRows } from '#service/store/tables.ts';

/** Rows of a masterchain block without anything in it. */
export function noRows(mcSeqno: number): BlockRows {
  return {
    mcSeqno,
    blocks: [],
    shardTops: [],
    transactions: [],
    links: [],
    messages: [],
    accountStates: [],
    latestAccountStates: [],
    accountEdits: [],
    codes: [],
  };
}
