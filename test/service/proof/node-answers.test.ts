import { describe, expect, it } from 'vitest';
import type { BlockId } from '#service/decode/block-id.ts';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { parseBoc } from '#service/decode/boc.ts';
import * as functions from '#service/liteserver/functions.ts';
import { checkConfig, CONFIG_FROM_KEY_BLOCK } from '#service/proof/config-proof.ts';
import { checkShardInfo } from '#service/proof/shard-proof.ts';
import { signedBytes } from '#service/proof/signatures.ts';
import { readStateExtra } from '#service/proof/state-proof.ts';
import { checkTransactionList } from '#service/proof/transaction-list-proof.ts';
import { pruneCell } from './mutations.ts';
import { recordings } from './recorded.ts';

const NOTHING = Buffer.alloc(0);
const HASH = Buffer.alloc(32, 7);

/** Block id that means "no such block" in an answer. */
const NO_BLOCK: BlockId = {
  workchain: -(2 ** 31),
  shard: 0n,
  seqno: 0,
  rootHash: Buffer.alloc(32),
  fileHash: Buffer.alloc(32),
};

describe('A list of transactions', () => {
  const expected = { workchain: 0, account: HASH, lt: 0n, hash: Buffer.alloc(32), count: 16 };

  it.each([
    ['from lt 0', expected],
    ['of count 0', { ...expected, lt: 5n, count: 0 }],
  ])('a list of transactions %s is empty and comes without a bag', (_what, question) => {
    expect(checkTransactionList(question, { ids: [], transactions: NOTHING })).toEqual([]);
  });

  it.each([
    ['a block id', { ids: [NO_BLOCK], transactions: NOTHING }],
    ['a bag', { ids: [], transactions: Buffer.from('b5ee9c72', 'hex') }],
  ])('a list of transactions from lt 0 is refused with %s', (_what, answer) => {
    expect(() => checkTransactionList(expected, answer)).toThrow(expect.objectContaining({ code: 'wrong_field' }));
  });

  it('an empty list of transactions from another lt is refused', () => {
    expect(() => checkTransactionList({ ...expected, lt: 5n }, { ids: [], transactions: NOTHING })).toThrow(
      expect.objectContaining({ name: 'ProofError', code: 'malformed' }),
    );
  });
});

describe.each(recordings())('A node does not open the list of shards: $folder', ({ exchanges }) => {
  const { args, answer } = exchanges(functions.getShardInfo).find((one) => one.answer.shardDescr.length > 0)!;
  const shardProof = withoutShards(answer.shardProof);
  const none = { ...answer, shardBlock: NO_BLOCK, shardProof, shardDescr: NOTHING };

  it.each([
    ['the masterchain', MASTERCHAIN, 1n << 63n],
    ['a part of the masterchain', MASTERCHAIN, 1n << 62n],
    ['the invalid workchain', NO_BLOCK.workchain, 1n << 63n],
    ['a shard without an end bit', 0, 0n],
  ])('a node does not open the list of shards for %s, which no list has', (_what, workchain, shard) => {
    for (const exact of [false, true]) {
      const expected = { block: args.id, workchain, shard, exact };
      expect(checkShardInfo(expected, none).shard).toBeUndefined();
      expect(() => checkShardInfo(expected, { ...none, shardBlock: answer.shardBlock })).toThrow(
        expect.objectContaining({ name: 'ProofError', code: 'not_contained' }),
      );
    }
  });

  it('a list of shards that is not opened for a workchain is a proof that shows too little', () => {
    const expected = { block: args.id, workchain: 3, shard: 1n << 63n, exact: false };
    expect(() => checkShardInfo(expected, none)).toThrow(
      expect.objectContaining({ name: 'ProofError', code: 'incomplete_proof' }),
    );
  });
});

describe.each(recordings())('The configuration of a key block: $folder', ({ exchanges }) => {
  const found = exchanges(functions.getConfigParams).find(({ args }) => (args.mode & CONFIG_FROM_KEY_BLOCK) !== 0)!;
  const { args, answer } = found;
  const expected = { block: args.id, mode: args.mode, params: args.paramList };

  it('the configuration of a key block has the proved part of the block id, without the file hash', () => {
    const { seqno, rootHash } = answer.id;
    expect(checkConfig(expected, answer).block).toEqual({ seqno, rootHash });
    const lie = { ...answer, id: { ...answer.id, fileHash: HASH } };
    expect(checkConfig(expected, lie).block).toEqual({ seqno, rootHash });
  });

  it('the configuration of a key block is refused with another id when the requested block is the key block', () => {
    const lie = { ...answer, id: { ...answer.id, fileHash: HASH } };
    expect(() => checkConfig({ ...expected, block: answer.id }, lie)).toThrow(
      expect.objectContaining({ name: 'ProofError', code: 'wrong_id' }),
    );
  });

  it('the configuration of a key block is refused with a proof of a state', () => {
    expect(() => checkConfig(expected, { ...answer, stateProof: answer.configProof })).toThrow(
      expect.objectContaining({ name: 'ProofError', code: 'wrong_field' }),
    );
  });
});

describe('The slot of a simplex signature set', () => {
  const block: BlockId = { workchain: -1, shard: 1n << 63n, seqno: 1, rootHash: HASH, fileHash: HASH };
  const common = { kind: 'simplex', validatorSetHash: 0, catchainSeqno: 0, signatures: [] } as const;

  it.each([-1, 2 ** 32, -(2 ** 31), 2 ** 53, 0.5])('the slot %d is no unsigned 32 bits', (slot) => {
    const set = { ...common, sessionId: HASH, slot, candidate: Buffer.alloc(84) };
    expect(() => signedBytes(block, set)).toThrow(
      expect.objectContaining({ name: 'ProofError', code: 'bad_signature_set' }),
    );
  });
});

/** Returns the two proofs with the root of the state's list of shards pruned. */
function withoutShards(proof: Buffer): Buffer {
  const table = parseBoc(proof);
  const state = { table, cell: table.ref(table.roots[1]!, 0) };
  return pruneCell(proof, readStateExtra('state', state).shardHashes!);
}
