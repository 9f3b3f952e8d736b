import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beginCell, Cell } from '@ton/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockText } from '#service/decode/block-id.ts';
import { parseBoc } from '#service/decode/boc.ts';
import type { Boc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { addMerkleProof, addStateUpdate } from '#service/decode/merkle-builder.ts';
import { applyMerkleUpdate, merkleProofRoot, readMerkleUpdate } from '#service/decode/merkle.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import { previousBlocks, readBlockInfo } from '#service/decode/tlb/block-info.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readMasterchainStateExtra } from '#service/decode/tlb/masterchain-state-extra.ts';
import { findShardAccount } from '#service/decode/tlb/shard-account.ts';
import { findShard } from '#service/decode/tlb/shard-descr.ts';
import { addSplitState, readShardState } from '#service/decode/tlb/shard-state.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { cellTree } from './cells.ts';
import { linesOf, proofVectorsFile } from './recorded.ts';
import type { TapeLine } from './recorded.ts';

function imported(store: CellStore, cell: Cell): number {
  const boc = parseBoc(cell.toBoc());
  return store.import(boc, boc.roots[0]!);
}

function buildMerkleProof(store: CellStore, root: number, opened: (cell: number) => boolean): number {
  return addMerkleProof(store, { source: store, root, opened });
}

describe('built Merkle proofs', () => {
  it('a built proof has the visited cells and the root hash, whatever is pruned, and @ton/core accepts it', () => {
    fc.assert(
      fc.property(cellTree, fc.infiniteStream(fc.boolean()), (cell, choices) => {
        const store = createCellStore();
        const root = imported(store, cell);
        const kept = new Set([root]);
        for (let index = 0; index < root; index++) if (choices.next().value) kept.add(index);
        const proof = buildMerkleProof(store, root, (index) => kept.has(index));
        const seen = merkleProofRoot(store, proof);
        expect(store.hash(seen, 0)).toEqual(cell.hash());
        expect(store.levelMask(proof)).toBe(0);
        const bytes = writeBoc(store, [proof]);
        expect(Cell.fromBoc(bytes)[0]!.refs[0]!.hash(0)).toEqual(cell.hash());
      }),
      { seed: 3, numRuns: 200 },
    );
  });

  it('a built proof prunes no leaf, and prunes the root if it is not visited', () => {
    const store = createCellStore();
    const leaf = beginCell().storeUint(1, 8).endCell();
    const branch = beginCell().storeUint(2, 8).storeRef(leaf).endCell();
    const root = imported(store, beginCell().storeRef(leaf).storeRef(branch).endCell());
    const proved = merkleProofRoot(
      store,
      buildMerkleProof(store, root, (cell) => cell === root),
    );
    expect([0, 1].map((at) => store.kind(store.ref(proved, at)))).toEqual(['ordinary', 'pruned']);
    expect(
      store.kind(
        merkleProofRoot(
          store,
          buildMerkleProof(store, root, () => false),
        ),
      ),
    ).toBe('pruned');
  });

  it('a built proof of a tree with a proof raises the levels of its pruned branches', () => {
    const store = createCellStore();
    const leaf = beginCell().storeUint(1, 8).endCell();
    const inner = imported(store, beginCell().storeRef(beginCell().storeRef(leaf).endCell()).endCell());
    const proof = buildMerkleProof(store, inner, (cell) => cell === inner);
    const root = store.add({ data: Buffer.alloc(0), bitLength: 0, refs: [proof] });
    const outer = buildMerkleProof(store, root, (cell) => cell === root || cell === proof);
    const below = store.ref(store.ref(merkleProofRoot(store, outer), 0), 0);
    expect(store.kind(below)).toBe('pruned');
    expect(store.levelMask(below)).toBe(3);
    expect(store.hash(merkleProofRoot(store, outer), 0)).toEqual(store.hash(root));
  });
});

function node(number: number, ...refs: readonly Cell[]): Cell {
  return refs.reduce((cell, ref) => cell.storeRef(ref), beginCell().storeUint(number, 8)).endCell();
}

describe('a built update of a state', () => {
  it('prunes what the old state has, also below a cell of a state that was replaced', () => {
    const unchanged = node(1, node(2));
    const before = node(3, node(4, unchanged, node(5, node(6))), node(7));
    // A block that was replaced had this part too.
    const again = node(4, unchanged, node(8, node(9)));
    const store = createCellStore();
    const [oldRoot] = [before, again].map((cell) => imported(store, cell)) as [number];
    const firstNew = store.size;
    const newRoot = imported(store, node(10, again));
    const target = createCellStore();
    const update = addStateUpdate(target, store, oldRoot, newRoot, firstNew);
    const shownAgain = target.ref(target.ref(update, 1), 0);
    expect([0, 1].map((at) => target.kind(target.ref(shownAgain, at)))).toEqual(['pruned', 'ordinary']);
    const states = createCellStore();
    const start = imported(states, before);
    const after = applyMerkleUpdate(states, target, update, start);
    expect(states.hash(after)).toEqual(node(10, again).hash());
  });
});

describe('Merkle cells', () => {
  it('cells of another kind, or with false hashes, are refused as Merkle cells', () => {
    const store = createCellStore();
    const plain = imported(store, beginCell().endCell());
    expect(() => merkleProofRoot(store, plain)).toThrow(expect.objectContaining({ code: 'bad_cell' }));
    expect(() => readMerkleUpdate(store, plain)).toThrow(expect.objectContaining({ code: 'bad_cell' }));
    const forged = Buffer.alloc(35, 9);
    forged.set([3]);
    forged.writeUInt16BE(0, 33);
    expect(() => store.add({ kind: 'merkleProof', data: forged, bitLength: 280, refs: [plain] })).toThrow(
      expect.objectContaining({ code: 'hash_mismatch' }),
    );
  });

  it('an update whose old state is missing is refused', () => {
    const from = beginCell().storeUint(1, 8).endCell();
    const to = beginCell().storeUint(2, 8).endCell();
    const update = beginCell()
      .storeUint(4, 8)
      .storeBuffer(from.hash())
      .storeBuffer(to.hash())
      .storeUint(0, 32)
      .storeRef(from)
      .storeRef(to)
      .endCell({ exotic: true });
    const boc = parseBoc(update.toBoc());
    const store = createCellStore();
    expect(() => applyMerkleUpdate(store, boc, 0)).toThrow(expect.objectContaining({ code: 'missing_cell' }));
    const other = imported(store, to);
    expect(() => applyMerkleUpdate(store, boc, 0, other)).toThrow(expect.objectContaining({ code: 'hash_mismatch' }));
    imported(store, from);
    expect(store.hash(applyMerkleUpdate(store, boc, 0))).toEqual(to.hash());
  });
});

describe('the cell store', () => {
  it('the store has a cell once, finds it by hash, and refuses to grow beyond its bound', () => {
    const store = createCellStore({ cellsMax: 3 });
    const cell = beginCell().storeUint(5, 7).storeRef(beginCell().storeUint(1, 1).endCell()).endCell();
    const first = imported(store, cell);
    expect(imported(store, cell)).toBe(first);
    expect(store.size).toBe(2);
    expect(store.find(cell.hash())).toBe(first);
    expect(store.find(Buffer.alloc(32))).toBeUndefined();
    imported(store, beginCell().endCell());
    expect(() => imported(store, beginCell().storeUint(3, 9).endCell())).toThrow(
      expect.objectContaining({ code: 'too_big' }),
    );
    expect(store.size).toBe(3);
  });

  it('the store accepts a cell like @ton/core, whatever follows its last bit', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 128, maxLength: 128 }),
        fc.integer({ min: 0, max: 1023 }),
        (data, bitLength) => {
          const store = createCellStore();
          const builder = beginCell();
          for (let bit = 0; bit < bitLength; bit++) builder.storeBit((data[bit >> 3]! & (128 >> (bit & 7))) !== 0);
          const cell = store.add({ data, bitLength, refs: [] });
          expect(store.hash(cell)).toEqual(builder.endCell().hash());
        },
      ),
      { seed: 4, numRuns: 300 },
    );
  });

  it.each([
    ['1024 bits', { data: Buffer.alloc(128), bitLength: 1024, refs: [] }],
    ['fewer bytes than bits', { data: Buffer.alloc(1), bitLength: 9, refs: [] }],
    ['five references', { data: Buffer.alloc(0), bitLength: 0, refs: [0, 0, 0, 0, 0] }],
    ['a reference to nothing', { data: Buffer.alloc(0), bitLength: 0, refs: [1] }],
    [
      'an exotic kind with another type',
      { kind: 'library' as const, data: Buffer.alloc(33), bitLength: 264, refs: [] },
    ],
  ])('the store refuses %s', (_, cell) => {
    const store = createCellStore();
    imported(store, beginCell().endCell());
    expect(() => store.add(cell)).toThrow(DecodeError);
    expect(store.size).toBe(1);
  });
});

const recordings = recordingDirs();

describe.skipIf(skipLoudly(recordings.length === 0, { what: 'recorded networks', why: 'no fixtures' }))(
  'recorded networks',
  () => {
    it.each(recordings)('the blocks in %s rebuild every state from the zero states', (folder) => {
      const store = createCellStore();
      const states = new Map<string, number>();
      for (const name of ['zerostate-masterchain.boc', 'zerostate-basechain.boc']) {
        const boc = parseBoc(readFileSync(join(folder, name)));
        const root = store.import(boc, boc.roots[0]!);
        states.set(blockText(readShardState(store, root)), root);
      }
      const tape = ['blocks.jsonl', 'blocks.jsonl.gz'].map((name) => join(folder, name)).find(existsSync)!;
      const wrong: string[] = [];
      for (const line of linesOf<TapeLine>(tape)) {
        const boc = parseBoc(Buffer.from(line.boc, 'base64'));
        const block = readBlock(boc, boc.roots[0]!);
        const info = readBlockInfo(boc, block.info);
        const [one, other] = previousBlocks(boc, info).map((id) => states.get(blockText(id))) as [
          number,
          number | undefined,
        ];
        const before = other === undefined ? one : addSplitState(store, one, other);
        const after = applyMerkleUpdate(store, boc, block.stateUpdate, before);
        states.set(blockText(info), after);
        const state = readShardState(store, after);
        const isRight =
          store.hash(after).equals(readMerkleUpdate(boc, block.stateUpdate).newHash) &&
          blockText(state) === blockText(info) &&
          state.utime === info.utime;
        if (!isRight) wrong.push(blockText(info));
      }
      expect(states.size).toBeGreaterThan(2);
      expect(wrong).toEqual([]);
    });
  },
);

type Vectors = {
  proofs: {
    mc_block: { root_hash: string; seqno: number };
    shard_block: { root_hash: string; seqno: number };
    account: string;
    expect: Record<string, string | number>;
    getBlockHeader_mode0_header_proof: string;
    getShardInfo_shard_proof: string;
    getAccountState_proof: string;
    getAccountState_state: string;
  };
};

describe('mainnet proofs', () => {
  const { proofs } = JSON.parse(readFileSync(proofVectorsFile, 'utf8')) as Vectors;

  it('a proof of a header shows its fields', () => {
    const boc = bag(proofs.getBlockHeader_mode0_header_proof);
    const root = merkleProofRoot(boc, boc.roots[0]!);
    expect(boc.hash(root, 0).toString('hex')).toBe(proofs.mc_block.root_hash);
    const block = readBlock(boc, root);
    const info = readBlockInfo(boc, block.info);
    expect({
      seqno: info.seqno,
      mc_gen_utime: info.utime,
      mc_end_lt: info.endLt.toString(),
      mc_prev_key_block_seqno: info.prevKeyBlockSeqno,
      mc_gen_validator_list_hash_short: info.validatorListHashShort,
      mc_gen_catchain_seqno: info.catchainSeqno,
    }).toMatchObject({ ...pick(proofs.expect, 'mc_'), seqno: proofs.mc_block.seqno });
    expect(() => readMerkleUpdate(boc, block.stateUpdate)).toThrow(expect.objectContaining({ code: 'pruned_branch' }));
  });

  it('a proof of a shard leads from the masterchain block to the shard block', () => {
    const boc = bag(proofs.getShardInfo_shard_proof);
    const [header, state] = boc.roots.map((root) => merkleProofRoot(boc, root)) as [number, number];
    expect(boc.hash(header, 0).toString('hex')).toBe(proofs.mc_block.root_hash);
    const { newHash } = readMerkleUpdate(boc, readBlock(boc, header).stateUpdate);
    expect(boc.hashEquals(state, newHash, 0)).toBe(true);
    const extra = readMasterchainStateExtra(boc, readShardState(boc, state).custom!);
    const shard = findShard(boc, extra.shardHashes, 0, 1n << 63n)!;
    expect(shard.block.rootHash.toString('hex')).toBe(proofs.shard_block.root_hash);
    expect(shard.block.seqno).toBe(proofs.shard_block.seqno);
  });

  it('a proof of an account leads from the shard block to the account', () => {
    const boc = bag(proofs.getAccountState_proof);
    const state = bag(proofs.getAccountState_state);
    const id = Buffer.from(proofs.account.slice(2), 'hex');
    const [header, shardState] = boc.roots.map((root) => merkleProofRoot(boc, root)) as [number, number];
    expect(readBlockInfo(boc, readBlock(boc, header).info).utime).toBe(proofs.expect['shard_gen_utime']);
    const entry = findShardAccount(boc, readShardState(boc, shardState).accounts, id)!;
    expect(entry.lastTransactionLt.toString()).toBe(proofs.expect['account_last_trans_lt']);
    expect(entry.lastTransactionHash.toString('hex')).toBe(proofs.expect['account_last_trans_hash']);
    expect(boc.hash(entry.account, 0)).toEqual(state.hash(state.roots[0]!));
    expect(readAccount(state, state.roots[0]!)!.address.id).toEqual(id);
    const neighbour = Buffer.from(id);
    neighbour[0]! ^= 0x80;
    expect(() => findShardAccount(boc, readShardState(boc, shardState).accounts, neighbour)).toThrow(
      expect.objectContaining({ code: 'pruned_branch' }),
    );
  });
});

function bag(hex: string): Boc {
  return parseBoc(Buffer.from(hex, 'hex'));
}

function pick(record: Record<string, unknown>, prefix: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => key.startsWith(prefix)));
}
