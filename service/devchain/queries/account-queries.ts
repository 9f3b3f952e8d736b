import type { BlockId } from '#service/decode/block-id.ts';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { shardContainsPrefix } from '#service/decode/shard.ts';
import { readAccount as readStoredAccount } from '#service/decode/tlb/account.ts';
import { findShardAccount } from '#service/decode/tlb/shard-account.ts';
import type { ArgsOf } from '#service/liteserver/functions.ts';
import type { getAccountState, getAccountStatePrunned } from '#service/liteserver/functions.ts';
import type { AccountState } from '#service/liteserver/tl/lite-api.ts';
import type { ChainBlock } from '../chain/chain.ts';
import { refusal, serverCode } from '../chain/errors.ts';
import { visitHeaderAndState } from '../chain/header-proof.ts';
import { answerBoc } from '../chain/proof-builder.ts';
import { findShardLeaf } from '../chain/shards.ts';
import type { ChainView } from '../chain/chain-view.ts';
import { isValidId, needBlock, needMasterchainBlock, noBlock, tipBlock, visitState } from '../chain/chain-view.ts';
import { VisitedCells } from '../collator/visited-cells.ts';
import { openMasterchainState, openState } from '../chain/open-as-node.ts';
import type { QueryHandlers } from './query-handlers.ts';

type Answer = AccountState;
type Args = ArgsOf<typeof getAccountState>;

/** The seqno that stands for the server's newest masterchain block. */
const latestSeqno = 0xffffffff;

/** The account's state with the proofs of service/proof/README.md#shard-block, service/proof/README.md#account. */
function answerAccountState(view: ChainView, { id, account }: Args): Answer {
  return readAccount(view, id, account, (cell) => answerBoc({ table: view.chain.states, cell }));
}

/** Answers like `answerAccountState`, but the state is a proof of the account without its code, data and libraries. */
function answerAccountStatePruned(view: ChainView, { id, account }: ArgsOf<typeof getAccountStatePrunned>): Answer {
  return readAccount(view, id, account, (cell) => {
    const tree = new VisitedCells(view.chain.states, cell);
    const extra = readStoredAccount(tree, cell)?.balance.extra;
    if (extra !== undefined) tree.openAll(extra);
    return answerBoc(tree);
  });
}

/** Position of an account with its proofs, and the account's own cell in the chain's states. */
export type LocatedAccount = Omit<Answer, 'state'> & { readonly cell: number | undefined };

/**
 * Finds an account for a query other than the queries of states.
 * @param name name of the query, for its refusals
 */
export function locateAccount(view: ChainView, id: BlockId, account: Args['account'], name: string): LocatedAccount {
  let found: number | undefined;
  const write = (cell: number): Buffer => {
    found = cell;
    return Buffer.alloc(0);
  };
  const { id: reference, shardBlock, shardProof, proof } = readAccount(view, id, account, write, name);
  return { id: reference, shardBlock, shardProof, proof, cell: found };
}

function readAccount(
  view: ChainView,
  id: BlockId,
  account: Args['account'],
  writeState: (cell: number) => Buffer,
  name = 'getAccountState',
): Answer {
  const prefix = account.id.readBigUInt64BE(0);
  checkReference(id, account.workchain, prefix, name);
  if (id.workchain !== MASTERCHAIN)
    return inBlock(view, id, needBlock(view, id), Buffer.alloc(0), account.id, writeState);
  const reference = id.seqno === latestSeqno ? tipBlock(view) : needMasterchainBlock(view, id);
  if (account.workchain === MASTERCHAIN) {
    return inBlock(view, reference.id, reference, Buffer.alloc(0), account.id, writeState);
  }
  const state = visitState(view, reference);
  const top = findShardInState(state, account.workchain, prefix | 1n);
  const shardProof = answerBoc(visitHeaderAndState(view, reference), state);
  if (top === undefined) {
    const nothing = Buffer.alloc(0);
    return { id: reference.id, shardBlock: noBlock, shardProof, proof: nothing, state: nothing };
  }
  return inBlock(view, reference.id, needBlock(view, top), shardProof, account.id, writeState);
}

function checkReference(id: BlockId, workchain: number, prefix: bigint, name: string): void {
  if (id.workchain !== MASTERCHAIN && id.workchain !== workchain) {
    throw refusal(serverCode.fatal, `reference block for a ${name}() must belong to the masterchain`);
  }
  if (id.seqno !== latestSeqno && !isValidId(id)) {
    throw refusal(serverCode.fatal, `reference block id for a ${name}() is invalid`);
  }
  if (id.workchain === workchain && !shardContainsPrefix(id.shard, prefix)) {
    throw refusal(serverCode.fatal, 'requested account id is not contained in the shard of the reference block');
  }
}

function findShardInState(state: VisitedCells, workchain: number, prefix: bigint): BlockId | undefined {
  const { shardHashes } = openMasterchainState(state, state.root);
  return findShardLeaf(state, shardHashes, workchain, prefix | 1n, false)?.block;
}

function inBlock(
  view: ChainView,
  id: BlockId,
  block: ChainBlock,
  shardProof: Buffer,
  account: Buffer,
  writeState: (cell: number) => Buffer,
): Answer {
  const state = visitState(view, block);
  const entry = findShardAccount(state, openState(state, state.root).accounts, account);
  return {
    id,
    shardBlock: block.id,
    shardProof,
    proof: answerBoc(visitHeaderAndState(view, block), state),
    state: entry === undefined ? Buffer.alloc(0) : writeState(entry.account),
  };
}

/** Handlers of accounts. */
export const accountQueries = {
  getAccountState: answerAccountState,
  getAccountStatePrunned: answerAccountStatePruned,
} satisfies Partial<QueryHandlers>;
