import type { BlockId } from '../decode/block-id.ts';
import type { BlockInfo } from '../decode/tlb/block-info.ts';
import { blockText, MASTERCHAIN, sameBlock } from '../decode/block-id.ts';
import { shardContains } from '../decode/shard.ts';
import { readAccount } from '../decode/tlb/account.ts';
import { findShardAccount } from '../decode/tlb/shard-account.ts';
import type { AccountStateAnswer } from './answers.ts';
import { ProofError } from './errors.ts';
import { requireBlock } from './header-proof.ts';
import type { ProvedBlockCache } from './proved-block-cache.ts';
import type { ProvedCell } from './proof-cells.ts';
import { openProof, openRoot, proving, requireHash } from './proof-cells.ts';
import { readShardOfAccount } from './shard-proof.ts';
import type { ProvedStateCell } from './state-proof.ts';
import { readKnownState, readStateProof } from './state-proof.ts';

/** Requested account, at a masterchain block or at a block of its own shard. */
export type AccountExpectation = {
  readonly block: BlockId;
  /** Signed 32 bits. */
  readonly workchain: number;
  /** 32 bytes. */
  readonly account: Buffer;
  /** True for an answer of `getAccountStatePrunned`, which shows the account without code, data and libraries. */
  readonly pruned?: boolean;
  /** Cache of blocks proved before. The check adds blocks that it proves. */
  readonly known?: ProvedBlockCache;
  /** The state of the answer, which the caller has opened with `openAccount`; absent: the check opens the state. */
  readonly opened?: ProvedCell | undefined;
};

/** Proved state of an account after a block. */
export type ProvedAccount = {
  /** Block with the account's state, and its header; undefined when the masterchain block has no such workchain. */
  readonly shard: { readonly block: BlockId; readonly info: BlockInfo } | undefined;
  /** Account; undefined when the state is proved not to have it. */
  readonly account: ProvedAccountCell | undefined;
};

/** Cell of TL-B `Account`, and the account's last transaction. */
export type ProvedAccountCell = ProvedCell & {
  readonly lastTransactionHash: Buffer;
  readonly lastTransactionLt: bigint;
};

/**
 * Checks an answer of `getAccountState` or `getAccountStatePrunned`: account in shard state, shard block in masterchain state
 * (service/proof/README.md#account). Whether `expected.block` is a block of the network is checked by the chain of trusted blocks.
 * @throws ProofError
 */
export function checkAccountState(expected: AccountExpectation, answer: AccountStateAnswer): ProvedAccount {
  const subject = 'accountState';
  requireBlock(subject, expected.block, answer.id);
  return proving(subject, () => {
    if (!hasShard(expected, answer)) {
      requireEmpty('accountState.proof', answer.proof);
      requireEmpty('accountState.state', answer.state);
      return { shard: undefined, account: undefined };
    }
    return readAccountOfShard(expected, answer);
  });
}

/** Proves that `shardBlock` is the account's shard in the requested block; returns false when there is none. */
function hasShard({ block, workchain, account, known }: AccountExpectation, answer: AccountStateAnswer): boolean {
  const subject = 'accountState';
  const { shardProof, shardBlock } = answer;
  if (block.workchain === MASTERCHAIN && workchain !== MASTERCHAIN) {
    const place = { workchain, prefix: account.readBigUInt64BE(0) };
    return readShardOfAccount(subject, shardProof, block, shardBlock, place, known).shard !== undefined;
  }
  requireEmpty('accountState.shardProof', shardProof);
  if (!sameBlock(shardBlock, block)) {
    throw new ProofError('wrong_id', {
      subject: 'accountState.shardBlock',
      expected: blockText(block),
      found: blockText(shardBlock),
    });
  }
  return true;
}

function readAccountOfShard(expected: AccountExpectation, answer: AccountStateAnswer): ProvedAccount {
  const { workchain, account } = expected;
  const { shardBlock } = answer;
  if (shardBlock.workchain !== workchain || !shardContains(shardBlock.shard, account)) {
    throw new ProofError('wrong_field', { subject: 'accountState.shardBlock', expected: 'the shard of the account' });
  }
  const { info, cell, state } = readState(expected.known, answer.proof, shardBlock);
  const shard = { block: shardBlock, info };
  const entry = findShardAccount(cell.table, state.accounts, account);
  if (entry === undefined) {
    requireEmpty('accountState.state', answer.state);
    return { shard, account: undefined };
  }
  const { lastTransactionHash, lastTransactionLt } = entry;
  const shown = expected.opened ?? openAccount(answer.state, expected.pruned ?? false);
  requireHash('accountState.state', shown, cell.table.hash(entry.account, 0));
  // The pruned variant may leave out code, data and libraries only.
  if (expected.pruned === true) readAccount(shown.table, shown.cell);
  return { shard, account: { ...shown, lastTransactionHash, lastTransactionLt } };
}

function readState(
  known: ProvedBlockCache | undefined,
  proof: Buffer,
  block: BlockId,
): ProvedStateCell & { readonly info: BlockInfo } {
  const subject = 'accountState.proof';
  const before = known?.state(block);
  if (before !== undefined) {
    return { info: before.info, ...readKnownState(subject, proof, block, before.stateHash) };
  }
  const { header, cell, state } = readStateProof(subject, proof, block);
  known?.noteState(block, { info: header.info, stateHash: Buffer.from(cell.table.hash(cell.cell, 0)) });
  return { info: header.info, cell, state };
}

/** Opens the state of an answer. Nothing of it is proved yet. @throws ProofError */
export function openAccount(state: Buffer, pruned = false): ProvedCell {
  return pruned ? openProof('accountState.state', state) : openRoot('accountState.state', state);
}

function requireEmpty(subject: string, bytes: Buffer): void {
  if (bytes.length > 0)
    throw new ProofError('not_contained', { subject, expected: 'nothing', found: `${bytes.length} bytes` });
}
