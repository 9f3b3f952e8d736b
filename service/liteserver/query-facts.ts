import { FULL_SHARD, MASTERCHAIN } from '../decode/block-id.ts';

/**
 * Classes of functions with about the same cost for a lite server. `light` reads an index or a header, `state` walks a state, `heavy` loads blocks or
 * long lists.
 */
export type MethodClass = 'light' | 'state' | 'heavy';

export const methodClasses: readonly MethodClass[] = ['light', 'state', 'heavy'];

/** Position in the chain that a query needs. */
export type PositionNeed = {
  readonly workchain: number;
  /** A shard, or an account's first 64 bits with the last one set. */
  readonly shard: bigint;
} & (
  | { readonly by: 'newest' }
  | { readonly by: 'seqno' | 'utime' | 'masterchainSeqno'; readonly value: number }
  | { readonly by: 'lt'; readonly value: bigint }
);

/** Kinds of old data. A node drops blocks and states at different ages, and shards separately from the masterchain. */
export type DepthKind = 'masterchainBlock' | 'masterchainState' | 'shardBlock' | 'shardState';

/** Old data that a query needs: data of this kind at a seqno of the masterchain or of a shard. */
export type DepthNeed = {
  readonly kind: DepthKind;
  readonly chain: 'masterchain' | 'shard';
  readonly seqno: number;
};

/**
 * `checked`: the answer carries its proof, and a read must pass a check of that proof. `none`: nothing proves the answer, so it is never taken from a
 * cache that others write.
 */
export type ProofFact = 'checked' | 'none';

/** Facts of a function that decide which lite servers can answer it, and what their answers are worth. */
export type QueryFacts<Args, Proof extends ProofFact = ProofFact> = {
  /** Work of the lite server. */
  readonly cost: MethodClass;
  /** Returns the positions that a lite server with parts of the chain must have. */
  positions(args: Args): readonly PositionNeed[];
  /** Returns the old data that the lite server must still have; undefined when the query names no block. */
  depth(args: Args): DepthNeed | undefined;
  /** Returns the masterchain seqno that a lite server waits for before it answers; undefined when it answers at once. */
  waitsFor(args: Args): number | undefined;
  readonly proof: Proof;
};

type Id = { readonly workchain: number; readonly shard: bigint; readonly seqno: number };
type Account = { readonly workchain: number; readonly id: Buffer };
type Named = { readonly id: Id };
type AccountAt = Named & { readonly account: Account };

/** Seqno that stands for the newest block (service/liteserver/README.md#block-ids). */
const NEWEST_SEQNO = 0xffff_ffff;

const newest: PositionNeed = { workchain: MASTERCHAIN, shard: FULL_SHARD, by: 'newest' };

/** Positions of a query that names no block. */
export const newestBlock = (): readonly PositionNeed[] => [newest];

/** Positions of a query by a block id. */
export const namedBlock = ({ id }: Named): readonly PositionNeed[] => [positionOf(id)];

/** Positions of a query of an account at a block. A masterchain block refers to a block of the account's shard. */
export function accountAtBlock({ id, account }: AccountAt): readonly PositionNeed[] {
  const place = placeOf(account);
  if (id.seqno === NEWEST_SEQNO) return [{ ...place, by: 'newest' }];
  return [{ ...place, by: id.workchain === MASTERCHAIN ? 'masterchainSeqno' : 'seqno', value: id.seqno }];
}

/** Positions of a query of an account at a logical time. */
export const accountAtLt = ({ account, lt }: { account: Account; lt: bigint }): readonly PositionNeed[] => [
  { ...placeOf(account), by: 'lt', value: lt },
];

/** Positions of a proof from one block to another; without a target to the newest block. */
export const pathOfBlocks = (args: { knownBlock: Id; targetBlock?: Id }): readonly PositionNeed[] => [
  positionOf(args.knownBlock),
  args.targetBlock === undefined ? newest : positionOf(args.targetBlock),
];

/** Bits of the mode of a search (service/liteserver/README.md#mode-bits). */
const BY_SEQNO = 0x1;
const BY_LT = 0x2;

type Search = Named & { readonly mode: number; readonly lt?: bigint; readonly utime?: number };

/** Positions of a search by seqno, logical time or time. */
export function searchedBlock({ id, mode, lt, utime }: Search): readonly PositionNeed[] {
  if ((mode & BY_SEQNO) !== 0) return [positionOf(id)];
  const place = { workchain: id.workchain, shard: id.shard };
  return [
    (mode & BY_LT) === 0 ? { ...place, by: 'utime', value: utime ?? 0 } : { ...place, by: 'lt', value: lt ?? 0n },
  ];
}

/** Depth of a query that needs no old data. Also the wait of a query that needs no block. */
export const nothing = (): undefined => undefined;

/** Depth of a query that reads the block of its id. */
export const blockOf = ({ id }: Named): DepthNeed => need('Block', id);

/** Depth of a query that reads the state after the block of its id. */
export const stateOf = ({ id }: Named): DepthNeed => need('State', id);

/** Depth of a query that reads an account's block or state. An account of a shard needs its shard even at a masterchain block. */
export const accountBlockOf = ({ id, account }: AccountAt): DepthNeed => need('Block', id, account);
export const accountStateOf = ({ id, account }: AccountAt): DepthNeed => need('State', id, account);

/** Depth of a search. Only a search by seqno names its block. */
export const searchedBlockOf = ({ id, mode }: Search): DepthNeed | undefined =>
  (mode & BY_SEQNO) === 0 ? undefined : need('Block', id);

/** Wait of a query that reads at the masterchain block of its id. */
export const masterchainBlockOf = ({ id }: Named): number | undefined =>
  id.workchain === MASTERCHAIN && id.seqno !== NEWEST_SEQNO ? id.seqno : undefined;

/** Wait of a proof from one block to another: the lite server needs both. */
export const laterBlockOf = (args: { knownBlock: Id; targetBlock?: Id }): number | undefined =>
  args.targetBlock && Math.max(args.knownBlock.seqno, args.targetBlock.seqno);

function positionOf({ workchain, shard, seqno }: Id): PositionNeed {
  return { workchain, shard: BigInt.asUintN(64, shard), by: 'seqno', value: seqno };
}

function placeOf({ workchain, id }: Account): Pick<PositionNeed, 'workchain' | 'shard'> {
  return { workchain, shard: id.readBigUInt64BE() | 1n };
}

function need(data: 'Block' | 'State', { workchain, seqno }: Id, account?: Account): DepthNeed {
  const chain = workchain === MASTERCHAIN ? 'masterchain' : 'shard';
  const isOfShard = chain === 'shard' || (account?.workchain ?? MASTERCHAIN) !== MASTERCHAIN;
  return { kind: isOfShard ? `shard${data}` : `masterchain${data}`, chain, seqno };
}
