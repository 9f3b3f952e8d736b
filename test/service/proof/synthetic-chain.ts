import type { BlockId } from '#service/decode/block-id.ts';
import type { ForwardLink } from '#service/proof/answers.ts';
import type { SignatureSet } from '#service/proof/signatures.ts';
import type { Validator } from '#service/decode/validator-session.ts';
import type { KeyObject } from 'node:crypto';
import { beginCell, Cell, convertToMerkleProof, Dictionary } from '@ton/core';
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import { nodeIdShort } from '#service/decode/signed-bytes.ts';
import { signedBytes } from '#service/proof/signatures.ts';
import { masterchainValidators, validatorSetHash } from '#service/decode/validator-session.ts';

// A masterchain of headers and configurations: enough for forward links, with any number of validators.

export type Signer = Validator & { readonly privateKey: KeyObject };

export type ChainShape = {
  readonly weights: readonly bigint[];
  readonly main?: number;
  readonly shuffle?: boolean;
  /** Total weight in parameter 34; the sum of the weights when not given. */
  readonly totalWeight?: bigint;
};

export type SyntheticBlock = {
  readonly id: BlockId;
  readonly cell: Cell;
  readonly keyBlock: boolean;
  readonly catchainSeqno: number;
};

export type SyntheticChain = ReturnType<typeof createSyntheticChain>;

const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Returns a validator whose key comes from a number. */
export function signerOf(number: number, weight: bigint): Signer {
  const seed = createHash('sha256').update(`validator ${number}`).digest();
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32);
  return {
    publicKey,
    weight,
    adnlAddress: number % 2 === 0 ? createHash('sha256').update(seed).digest() : undefined,
    privateKey,
  };
}

/** Creates blocks of which every `keyEvery`-th is a key block. All key blocks have the same configuration. */
export function createSyntheticChain(shape: ChainShape, blocks: { first: number; last: number; keyEvery: number }) {
  const signers = shape.weights.map((weight, index) => signerOf(index, weight));
  const config = configCell(signers, shape);
  const main = shape.main ?? signers.length;
  const session = (catchainSeqno: number): readonly Signer[] =>
    masterchainValidators(signers, main, shape.shuffle ?? false, catchainSeqno);
  const chain = new Map<number, SyntheticBlock>();
  let prevKeyBlock = 0;
  for (let seqno = blocks.first; seqno <= blocks.last; seqno++) {
    const keyBlock = (seqno - blocks.first) % blocks.keyEvery === 0;
    const catchainSeqno = Math.floor(seqno / 3);
    const listHash = validatorSetHash(catchainSeqno, session(catchainSeqno));
    const cell = blockCell({ seqno, keyBlock, catchainSeqno, listHash, prevKeyBlock, config });
    chain.set(seqno, { id: idOf(seqno, cell), cell, keyBlock, catchainSeqno });
    if (keyBlock) prevKeyBlock = seqno;
  }
  const block = (seqno: number): SyntheticBlock => chain.get(seqno)!;
  const linkTo = (from: number, to: number): ForwardLink =>
    forwardLink(block(from), block(to), session(block(to).catchainSeqno), 'ordinary');
  return { signers, session, block, linkTo, config };
}

/** Returns the link of a lite server from a key block, signed by all validators. */
export function forwardLink(
  from: SyntheticBlock,
  to: SyntheticBlock,
  session: readonly Signer[],
  kind: SignatureSet['kind'],
): ForwardLink {
  return {
    kind: 'forward',
    toKeyBlock: to.keyBlock,
    from: from.id,
    to: to.id,
    destProof: proofOf(to.cell),
    configProof: proofOf(from.cell),
    signatures: signAll(to, session, kind),
  };
}

/** Returns the set signed by all of the session's validators. */
export function signAll(to: SyntheticBlock, session: readonly Signer[], kind: SignatureSet['kind']): SignatureSet {
  const { catchainSeqno } = to;
  const common = { catchainSeqno, validatorSetHash: validatorSetHash(catchainSeqno, session), signatures: [] };
  const unsigned: SignatureSet =
    kind === 'ordinary'
      ? { kind, ...common }
      : {
          kind,
          ...common,
          sessionId: Buffer.alloc(32, 7),
          slot: to.id.seqno,
          candidate: candidateOf(to.id, 'ordinary'),
        };
  return resign(to.id, unsigned, session);
}

/** Returns the same set with new signatures of its contents. */
export function resign(block: BlockId, set: SignatureSet, session: readonly Signer[]): SignatureSet {
  const message = signedBytes(block, set);
  const signatures = session.map(({ publicKey, privateKey }) => ({
    nodeIdShort: nodeIdShort(publicKey),
    signature: sign(null, message, privateKey),
  }));
  return { ...set, signatures };
}

/** Returns `consensus.candidateHashDataOrdinary` without parents, or `...Empty`, of a block. */
export function candidateOf(block: BlockId, form: 'ordinary' | 'empty'): Buffer {
  const place = Buffer.alloc(16);
  place.writeInt32LE(block.workchain, 0);
  place.writeBigUInt64LE(block.shard, 4);
  place.writeUInt32LE(block.seqno, 12);
  const id = Buffer.from(form === 'ordinary' ? 'dcbcf9e8' : '33d9b472', 'hex');
  return Buffer.concat([id, place, block.rootHash, block.fileHash, Buffer.alloc(36, 1)]);
}

function idOf(seqno: number, cell: Cell): BlockId {
  const fileHash = createHash('sha256').update(cell.toBoc()).digest();
  return { workchain: MASTERCHAIN, shard: FULL_SHARD, seqno, rootHash: cell.hash(), fileHash };
}

/** Returns a proof that shows the whole cell. */
export function proofOf(cell: Cell): Buffer {
  return convertToMerkleProof(cell).toBoc();
}

/** Returns the block with another masterchain part. */
export function withMasterchainPart(block: SyntheticBlock, custom: Cell | null): SyntheticBlock {
  const [info, flow, update, extra] = block.cell.refs;
  const [inMessages, outMessages, accounts] = extra!.refs;
  const changed = beginCell()
    .storeBits(extra!.bits.substring(0, extra!.bits.length - 1))
    .storeRef(inMessages!)
    .storeRef(outMessages!)
    .storeRef(accounts!)
    .storeMaybeRef(custom);
  const cell = beginCell().storeBits(block.cell.bits).storeRef(info!).storeRef(flow!).storeRef(update!);
  cell.storeRef(changed.endCell());
  return { ...block, id: idOf(block.id.seqno, cell.endCell()), cell: cell.endCell() };
}

/** Returns the masterchain part of a block. */
export function masterchainPart(block: SyntheticBlock): Cell {
  return block.cell.refs[3]!.refs[3]!;
}

type BlockShape = {
  readonly seqno: number;
  readonly keyBlock: boolean;
  readonly catchainSeqno: number;
  readonly listHash: number;
  readonly prevKeyBlock: number;
  readonly config: Cell;
};

function blockCell({ seqno, keyBlock, catchainSeqno, listHash, prevKeyBlock, config }: BlockShape): Cell {
  const prev = beginCell()
    .storeUint(0, 64)
    .storeUint(seqno - 1, 32)
    .storeUint(0, 512)
    .endCell();
  const info = beginCell()
    .storeUint(0x9bc7a987, 32)
    .storeUint(0, 32)
    .storeUint(0, 6)
    .storeBit(keyBlock)
    .storeUint(0, 1 + 8)
    .storeUint(seqno, 32)
    .storeUint(0, 32)
    .storeUint(0, 8)
    .storeInt(MASTERCHAIN, 32)
    .storeUint(0, 64)
    .storeUint(1_700_000_000 + seqno, 32)
    .storeUint(seqno * 1000, 64)
    .storeUint(seqno * 1000 + 9, 64)
    .storeUint(listHash, 32)
    .storeUint(catchainSeqno, 32)
    .storeUint(0, 32)
    .storeUint(prevKeyBlock, 32)
    .storeRef(prev)
    .endCell();
  const noCoins = 0;
  const custom = beginCell()
    .storeUint(0xcca5, 16)
    .storeBit(keyBlock)
    .storeUint(0, 2)
    .storeUint(noCoins, 2 * (4 + 1))
    .storeRef(Cell.EMPTY);
  if (keyBlock) custom.storeUint(0, 256).storeRef(config);
  const extra = beginCell()
    .storeUint(0x4a33f6fd, 32)
    .storeRef(Cell.EMPTY)
    .storeRef(Cell.EMPTY)
    .storeRef(Cell.EMPTY)
    .storeUint(0, 512)
    .storeMaybeRef(custom.endCell());
  return beginCell()
    .storeUint(0x11ef55aa, 32)
    .storeInt(-7, 32)
    .storeRef(info)
    .storeRef(Cell.EMPTY)
    .storeRef(Cell.EMPTY)
    .storeRef(extra.endCell())
    .endCell();
}

function configCell(signers: readonly Signer[], { main, shuffle, totalWeight }: ChainShape): Cell {
  const list = Dictionary.empty(Dictionary.Keys.Uint(16), {
    serialize: (validator: Signer, builder) => {
      builder.storeUint(validator.adnlAddress === undefined ? 0x53 : 0x73, 8).storeUint(0x8e81278a, 32);
      builder.storeBuffer(validator.publicKey).storeUint(validator.weight, 64);
      if (validator.adnlAddress !== undefined) builder.storeBuffer(validator.adnlAddress);
    },
    parse: () => {
      throw new Error('only written');
    },
  });
  signers.forEach((signer, index) => list.set(index, signer));
  const set = beginCell()
    .storeUint(0x12, 8)
    .storeUint(0, 64)
    .storeUint(signers.length, 16)
    .storeUint(main ?? signers.length, 16)
    .storeUint(totalWeight ?? signers.reduce((sum, { weight }) => sum + weight, 0n), 64)
    .storeDict(list)
    .endCell();
  const catchain = beginCell()
    .storeUint(0xc2, 8)
    .storeUint(0, 7)
    .storeBit(shuffle ?? false)
    .storeUint(0, 128)
    .endCell();
  const params = Dictionary.empty(Dictionary.Keys.Int(32), Dictionary.Values.Cell());
  params.set(28, catchain).set(34, set);
  return beginCell().storeDictDirect(params).endCell();
}
