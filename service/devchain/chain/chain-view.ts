import type { BlockId } from '#service/decode/block-id.ts';
import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import type { Boc } from '#service/decode/boc.ts';
import { shardContainsPrefix, shardsIntersect } from '#service/decode/shard.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import type { Chain, ChainBlock } from './chain.ts';
import type { DevchainError } from './errors.ts';
import { refusal, serverCode } from './errors.ts';
import { VisitedCells } from '../collator/visited-cells.ts';

/** A lite server's view of the chain: blocks above its tip do not exist. */
export type ChainView = {
  readonly chain: Chain;
  /** Newest masterchain seqno. */
  readonly tip: number;
  /** Unix time in seconds, of `getTime`. */
  readonly nowSeconds: number;
  /** Shard blocks that no masterchain block has yet; undefined: the server answers no non-final query. */
  readonly signed?: readonly { readonly id: BlockId; readonly bytes: Buffer }[] | undefined;
};

/** The tip's block. */
export function tipBlock(view: ChainView): ChainBlock {
  return view.chain.masterchain(view.tip)!;
}

/** `(-1,8000000000000000,5):ROOT:FILE`, as the node writes ids in its messages. */
export function idText(id: BlockId): string {
  return `${placeText(id)}:${id.rootHash.toString('hex').toUpperCase()}:${id.fileHash.toString('hex').toUpperCase()}`;
}

function placeText({ workchain, shard, seqno }: Pick<BlockId, 'workchain' | 'shard' | 'seqno'>): string {
  return `(${workchain},${shard.toString(16).padStart(16, '0')},${seqno})`;
}

/** `is_valid_full`: names a block that could exist. */
export function isValidId({ workchain, shard, seqno }: BlockId): boolean {
  return (
    workchain !== -0x80000000 &&
    shard !== 0n &&
    (shard & 7n) === 0n &&
    seqno <= 0x7fffffff &&
    (workchain !== MASTERCHAIN || shard === FULL_SHARD)
  );
}

/** Placeholder for an absent block in answers. */
export const noBlock: BlockId = {
  workchain: -0x80000000,
  shard: 0n,
  seqno: 0,
  rootHash: Buffer.alloc(32),
  fileHash: Buffer.alloc(32),
};

/** Finds a block. Refuses with 651 when it is absent or above the tip; then the text ends with the server's progress. */
export function findBlock(view: ChainView, id: BlockId): ChainBlock {
  const block = view.chain.find(id);
  if (block !== undefined && block.masterchainSeqno <= view.tip) return block;
  if (
    view.chain.zeroStates.some((zero) => zero.id.rootHash.equals(id.rootHash) && zero.id.fileHash.equals(id.fileHash))
  ) {
    throw refusal(serverCode.notReady, 'not in db');
  }
  throw refusal(serverCode.notReady, `block handle not in db${lagOf(view, id)}`);
}

/** Finds a block like `findBlock`, with the refusal's text for a block that another answer needs. */
export function needBlock(view: ChainView, id: BlockId): ChainBlock {
  try {
    return findBlock(view, id);
  } catch (error) {
    const { data, message } = error as DevchainError<'query_refused'>;
    throw refusal(data.serverCode, `cannot load block ${idText(id)} : ${message}`);
  }
}

/** A masterchain block that an answer refers to. */
export function needMasterchainBlock(view: ChainView, id: BlockId): ChainBlock {
  if (id.workchain !== MASTERCHAIN || !isValidId(id)) {
    throw refusal(serverCode.fatal, 'reference block must belong to the masterchain');
  }
  return needBlock(view, id);
}

function lagOf(view: ChainView, { workchain, shard, seqno }: BlockId): string {
  if (workchain === MASTERCHAIN) return seqno > view.tip ? masterchainLag(view) : '';
  const top = tipBlock(view).shards.find(
    ({ block }) => block.workchain === workchain && shardsIntersect(block.shard, shard),
  );
  return top !== undefined && seqno > top.block.seqno ? shardLag(view) : '';
}

function masterchainLag(view: ChainView): string {
  return ` (last known masterchain block: ${view.tip})`;
}

function shardLag(view: ChainView): string {
  return ` (possibly out of sync: shard_client_seqno=${view.tip} ls_seqno=${view.tip})`;
}

/** Search key of a block, besides its place. */
export type LookupKey = { readonly by: 'seqno' | 'lt' | 'utime'; readonly value: bigint };

/**
 * Returns a block along a prefix's path through the shards. It has exactly this seqno, or is the first whose end lt or time reaches the
 * value. Refuses with 651 and the text of the node's index, in which the zerostate comes first and has no data.
 */
export function lookUpBlock(view: ChainView, workchain: number, prefix: bigint, key: LookupKey): ChainBlock {
  const first = zeroValue(view, workchain, key);
  if (key.value === first) throw refusal(serverCode.notReady, 'not in db');
  const known = view.chain.along(workchain, prefix).filter((block) => block.masterchainSeqno <= view.tip);
  const isBefore = first === undefined || key.value < first;
  const found = isBefore ? undefined : findAlong(view.chain, known, key);
  if (found !== undefined) return found;
  const reason = isBefore ? `${key.by === 'utime' ? 'ts' : key.by} not in db` : 'ltdb: block not found';
  const place = `(${workchain},${prefix.toString(16).padStart(16, '0')})`;
  throw refusal(
    serverCode.notReady,
    `cannot find block ${place} ${key.by}=${key.value}: ${reason}${lookupLag(view, workchain, prefix, key)}`,
  );
}

/** The first block that reaches a time can be found only where the block before it is available too. */
function findAlong({ firstSeqno }: Chain, known: readonly ChainBlock[], key: LookupKey): ChainBlock | undefined {
  if (key.by === 'seqno') return known.find((block) => lastValue(block, key) === key.value);
  const index = known.findIndex((block) => lastValue(block, key) >= key.value);
  const isFirst = firstSeqno === 1 || (known[index - 1]?.masterchainSeqno ?? 0) >= firstSeqno;
  return isFirst ? known[index] : undefined;
}

/** Returns the search value of a workchain's zerostate; undefined for an unknown workchain. */
function zeroValue({ chain }: ChainView, workchain: number, { by }: LookupKey): bigint | undefined {
  const zero = chain.zeroStates.find(({ id }) => id.workchain === workchain);
  if (zero === undefined) return undefined;
  return by === 'utime' ? BigInt(readShardState(chain.states, zero.state).utime) : 0n;
}

function lastValue({ id, header }: ChainBlock, { by }: Pick<LookupKey, 'by'>): bigint {
  if (by === 'lt') return header.endLt;
  return BigInt(by === 'utime' ? header.utime : id.seqno);
}

function lookupLag(view: ChainView, workchain: number, prefix: bigint, { by, value }: LookupKey): string {
  const tip = tipBlock(view);
  if (workchain === MASTERCHAIN) {
    return value > lastValue(tip, { by }) ? masterchainLag(view) : '';
  }
  const top = tip.shards.find(({ block }) => block.workchain === workchain && shardContainsPrefix(block.shard, prefix));
  if (top === undefined) return '';
  const last = by === 'lt' ? top.endLt : BigInt(by === 'utime' ? tip.header.utime : top.block.seqno);
  return value > last ? shardLag(view) : '';
}

/** A block's cells to be visited. */
export function visitBlock(view: ChainView, block: ChainBlock): VisitedCells {
  const boc: Boc = view.chain.parse(block);
  return new VisitedCells(boc, boc.roots[0]!);
}

/** The cells of the state after a block, to be visited. */
export function visitState(view: ChainView, block: ChainBlock): VisitedCells {
  return new VisitedCells(view.chain.states, block.state);
}
