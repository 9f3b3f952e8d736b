import type { BlockId } from '#service/decode/block-id.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { merkleProofRoot } from '#service/decode/merkle.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readBlockInfo } from '#service/decode/tlb/block-info.ts';
import { findShardAccount } from '#service/decode/tlb/shard-account.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import type { AccountStateAnswer } from '#service/proof/answers.ts';
import type { ProvedCell } from '#service/proof/proof-cells.ts';
import { requireBlock } from '#service/proof/header-proof.ts';
import type { FoundAccount } from './account-view.ts';

/**
 * Reads an account from an answer of getAccountState without checking that its proofs belong to the block.
 * For the trust settings that accept a lite server's word. The answer must still be about the requested block.
 * @param opened the state of the answer; undefined for none
 * @throws ProofError `wrong_id`, DecodeError
 */
export function readUnprovedAccount(
  block: BlockId,
  account: Buffer,
  answer: AccountStateAnswer,
  opened: ProvedCell | undefined,
): FoundAccount {
  requireBlock('accountState', block, answer.id);
  if (answer.proof.length === 0) return { shard: undefined, entry: undefined };
  const proof = parseBoc(answer.proof, { rootsMax: 2 });
  const [blockProof = 0, stateProof = blockProof] = proof.roots;
  const { utime } = readBlockInfo(proof, readBlock(proof, merkleProofRoot(proof, blockProof)).info);
  const { accounts } = readShardState(proof, merkleProofRoot(proof, stateProof));
  const found = findShardAccount(proof, accounts, account);
  const shard = { block: answer.shardBlock, utime };
  if (found === undefined || opened === undefined) return { shard, entry: undefined };
  const { lastTransactionHash, lastTransactionLt } = found;
  return { shard, entry: { ...opened, lastTransactionHash, lastTransactionLt } };
}
