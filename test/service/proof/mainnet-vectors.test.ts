import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { BlockId } from '#service/decode/block-id.ts';
import type { AccountStateAnswer, ShardInfoAnswer } from '#service/proof/answers.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import { checkAccountState } from '#service/proof/account-proof.ts';
import { checkBlockHeader } from '#service/proof/header-proof.ts';
import { checkShardInfo } from '#service/proof/shard-proof.ts';
import { projectRoot } from '#test/style/sources.ts';

type RecordedId = { workchain: number; shard: string; seqno: number; root_hash: string; file_hash: string };

type Vectors = {
  readonly mc_block: RecordedId;
  readonly shard_block: RecordedId;
  readonly account: string;
  readonly expect: {
    readonly mc_gen_utime: number;
    readonly mc_end_lt: string;
    readonly mc_prev_key_block_seqno: number;
    readonly mc_gen_validator_list_hash_short: number;
    readonly mc_gen_catchain_seqno: number;
    readonly shard_gen_utime: number;
    readonly account_last_trans_lt: string;
    readonly account_last_trans_hash: string;
  };
  readonly getBlockHeader_mode0_header_proof: string;
  readonly getShardInfo_shard_proof: string;
  readonly getShardInfo_shard_descr: string;
  readonly getAccountState_proof: string;
  readonly getAccountState_state: string;
};

const file = join(projectRoot, 'test/vectors/liteserver/mainnet-proofs.json');

describe('The five proofs of the main network hold', () => {
  const vectors = (JSON.parse(readFileSync(file, 'utf8')) as { readonly proofs: Vectors }).proofs;
  const masterchainBlock = (): BlockId => blockId(vectors.mc_block);
  const shardBlock = (): BlockId => blockId(vectors.shard_block);
  const accountId = (): Buffer => bytes(vectors.account.split(':')[1]!);
  const shardInfo = (): ShardInfoAnswer => ({
    id: masterchainBlock(),
    shardBlock: shardBlock(),
    shardProof: bytes(vectors.getShardInfo_shard_proof),
    shardDescr: bytes(vectors.getShardInfo_shard_descr),
  });
  const accountState = (): AccountStateAnswer => ({
    id: masterchainBlock(),
    shardBlock: shardBlock(),
    shardProof: bytes(vectors.getShardInfo_shard_proof),
    proof: bytes(vectors.getAccountState_proof),
    state: bytes(vectors.getAccountState_state),
  });
  const asked = () => ({ block: masterchainBlock(), workchain: 0, account: accountId() });

  it('the header of a masterchain block is proved', () => {
    const headerProof = bytes(vectors.getBlockHeader_mode0_header_proof);
    const { info } = checkBlockHeader({ block: masterchainBlock() }, { id: masterchainBlock(), mode: 0, headerProof });
    expect(info).toMatchObject({
      utime: vectors.expect.mc_gen_utime,
      endLt: BigInt(vectors.expect.mc_end_lt),
      prevKeyBlockSeqno: vectors.expect.mc_prev_key_block_seqno,
      validatorListHashShort: vectors.expect.mc_gen_validator_list_hash_short,
      catchainSeqno: vectors.expect.mc_gen_catchain_seqno,
    });
  });

  it('a shard and its description are proved', () => {
    const expected = { block: masterchainBlock(), workchain: 0, shard: shardBlock().shard, exact: true };
    expect(checkShardInfo(expected, shardInfo()).shard?.block).toEqual(shardBlock());
  });

  it('an account in the shard is proved', () => {
    const { shard, account } = checkAccountState(asked(), accountState());
    expect(shard?.info.utime).toBe(vectors.expect.shard_gen_utime);
    expect(account?.lastTransactionLt).toBe(BigInt(vectors.expect.account_last_trans_lt));
    expect(account?.lastTransactionHash.toString('hex')).toBe(vectors.expect.account_last_trans_hash);
    expect(readAccount(account!.table, account!.cell)?.address).toMatchObject({ workchain: 0 });
  });

  it('an account in another block, or another account, is refused', () => {
    const other = { ...masterchainBlock(), rootHash: Buffer.alloc(32) };
    expect(() => checkAccountState({ ...asked(), block: other }, accountState())).toThrow('wrong_id');
    const changed = { ...accountState(), id: other };
    expect(() => checkAccountState({ ...asked(), block: other }, changed)).toThrow('hash_mismatch');
    const stranger = { ...asked(), account: Buffer.alloc(32, 0x6f) };
    expect(() => checkAccountState(stranger, accountState())).toThrow('incomplete_proof');
  });

  it('a Merkle proof that only stores the right hash is refused', () => {
    const proof = bytes(vectors.getAccountState_proof);
    const boc = parseBoc(proof);
    const state = boc.ref(boc.roots[1]!, 0);
    // Flips one bit of the state's gen_utime. The stored hash stays the hash that the block names.
    const forged = Buffer.from(proof);
    forged[boc.dataOffset(state) + 30]! ^= 1;
    expect(() => checkAccountState(asked(), { ...accountState(), proof: forged })).toThrow('bad_merkle_proof');
  });
});

function bytes(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}

function blockId({ workchain, shard, seqno, root_hash, file_hash }: RecordedId): BlockId {
  return {
    workchain,
    shard: BigInt.asUintN(64, BigInt(shard)),
    seqno,
    rootHash: Buffer.from(root_hash, 'hex'),
    fileHash: Buffer.from(file_hash, 'hex'),
  };
}
