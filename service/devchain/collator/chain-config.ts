import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { keyUint, walkHashmap } from '#service/decode/hashmap.ts';
import type { CatchainConfig } from '#service/decode/tlb/config-28.ts';
import { readCatchainConfig } from '#service/decode/tlb/config-28.ts';
import { findConfigParam } from '#service/decode/tlb/config-params.ts';
import { versionInForce } from '#service/decode/tlb/global-version.ts';
import type { ValidatorSet } from '#service/decode/tlb/validator-set.ts';
import { readValidatorSet } from '#service/decode/tlb/validator-set.ts';
import type { BlockLimits } from './block-load.ts';
import { readBlockLimits } from './block-load.ts';

/** Parameters for making a block, from the configuration in the newest masterchain state. */
export type ChainConfig = {
  /** Root of the dictionary, in the store of states. */
  readonly root: number;
  /** Account ids in the masterchain: who gets the fees and who gets new extra currencies. */
  readonly feeCollector: Buffer | undefined;
  readonly minter: Buffer | undefined;
  /** Root of the extra currencies that there should be. */
  readonly toMint: number | undefined;
  readonly globalVersion: number;
  readonly capabilities: bigint;
  /** Part of the fees that is burned. */
  readonly burned: { readonly numerator: bigint; readonly denominator: bigint; readonly blackhole: Buffer | undefined };
  /** Nanotons that a block of each chain creates. */
  readonly masterchainBlockFee: bigint;
  readonly basechainBlockFee: bigint;
  readonly workchains: ReadonlyMap<number, Workchain>;
  readonly catchain: CatchainConfig;
  readonly validators: ValidatorSet;
  /** Limits of masterchain and shard blocks. */
  readonly limits: { readonly masterchain: BlockLimits; readonly shards: BlockLimits };
  /** Part of a forward fee that each shard on a message's way takes, of 65536 (parameter 25). */
  readonly nextFraction: bigint;
  /** Accounts that run without gas fees, and by tick and tock, in the order of their ids. */
  readonly specials: readonly Buffer[];
};

/** A workchain of parameter 12. */
export type Workchain = {
  readonly enabledSince: number;
  readonly minSplit: number;
  readonly maxSplit: number;
  readonly active: boolean;
  readonly zeroRootHash: Buffer;
  readonly zeroFileHash: Buffer;
  /** From the decision to split or merge to its beginning, and how long it may take. */
  readonly splitMergeDelaySeconds: number;
  readonly splitMergeIntervalSeconds: number;
};

/** Delays of a `WorkchainDescr` without own delays, in seconds. */
const DEFAULT_DELAY_SECONDS = 100;
const DEFAULT_INTERVAL_SECONDS = 100;

/** Reads a configuration. Throws DecodeError, and Error for a configuration without validators. */
export function readChainConfig(states: CellStore, root: number): ChainConfig {
  const open = (param: number): CellSlice | undefined => {
    const cell = findConfigParam(states, root, param);
    return cell === undefined ? undefined : new CellSlice(states, cell);
  };
  const address = (param: number, other: number): Buffer | undefined => (open(param) ?? open(other))?.hash();
  const { version, capabilities } = versionInForce(states, root);
  const fees = open(14);
  fees?.expectTag(8, 0x6b, 'BlockCreateFees');
  const validators = findConfigParam(states, root, 35) ?? findConfigParam(states, root, 34);
  const catchain = findConfigParam(states, root, 28);
  if (validators === undefined || catchain === undefined) throw new Error('the configuration has no validators');
  const [masterchainLimits, shardLimits] = [22, 23].map((param) => findConfigParam(states, root, param));
  if (masterchainLimits === undefined || shardLimits === undefined) {
    throw new Error('the configuration has no limits of blocks');
  }
  return {
    root,
    feeCollector: address(3, 1),
    minter: address(2, 0),
    toMint: open(7)?.maybeRef(),
    globalVersion: version,
    capabilities,
    burned: readBurning(open(5)),
    masterchainBlockFee: fees?.coins() ?? 0n,
    basechainBlockFee: fees?.coins() ?? 0n,
    workchains: readWorkchains(states, open(12)),
    catchain: readCatchainConfig(states, catchain),
    validators: readValidatorSet(states, validators),
    limits: {
      masterchain: readBlockLimits(states, masterchainLimits),
      shards: readBlockLimits(states, shardLimits),
    },
    nextFraction: readNextFraction(open(25)),
    specials: readSpecials(states, open(31)),
  };
}

/** `burning_config#01 blackhole_addr:(Maybe bits256) fee_burn_num:# fee_burn_denom:#`. */
function readBurning(slice: CellSlice | undefined): ChainConfig['burned'] {
  if (slice === undefined) return { numerator: 0n, denominator: 1n, blackhole: undefined };
  slice.expectTag(8, 1, 'BurningConfig');
  const blackhole = slice.bit() ? slice.hash() : undefined;
  return { blackhole, numerator: BigInt(slice.uint(32)), denominator: BigInt(slice.uint(32)) };
}

/**
 * `msg_forward_prices#ea lump_price:uint64 bit_price:uint64 cell_price:uint64 ihr_price_factor:uint32 first_frac:uint16
 * next_frac:uint16 = MsgForwardPrices`.
 */
function readNextFraction(slice: CellSlice | undefined): bigint {
  if (slice === undefined) return 0n;
  slice.skip(8 + 3 * 64 + 32 + 16);
  return BigInt(slice.uint(16));
}

/** `_ fundamental_smc_addr:(HashmapE 256 True) = ConfigParam 31`. */
function readSpecials(states: CellStore, slice: CellSlice | undefined): Buffer[] {
  const specials: Buffer[] = [];
  walkHashmap(states, slice?.maybeRef(), 256, (id) => void specials.push(id));
  return specials;
}

function readWorkchains(states: CellStore, slice: CellSlice | undefined): Map<number, Workchain> {
  const workchains = new Map<number, Workchain>();
  walkHashmap(states, slice?.maybeRef(), 32, (key, value) => {
    workchains.set(keyUint(key, 32) | 0, readWorkchain(value));
  });
  return workchains;
}

/**
 * Reads `workchain#a6 enabled_since:uint32 monitor_min_split:(## 8) min_split:(## 8) max_split:(## 8) basic:(## 1) active:Bool
 * accept_msgs:Bool flags:(## 13) zerostate_root_hash:bits256 zerostate_file_hash:bits256 version:uint32
 * format:(WorkchainFormat basic)`. `workchain_v2#a7` has `wc_split_merge_timings#0 split_merge_delay:uint32
 * split_merge_interval:uint32 ...` at the end.
 */
function readWorkchain(slice: CellSlice): Workchain {
  const isSecond = slice.uint(8) === 0xa7;
  const enabledSince = slice.uint(32);
  slice.skip(8);
  const [minSplit, maxSplit] = [slice.uint(8), slice.uint(8)];
  const isBasic = slice.bit();
  const active = slice.bit();
  slice.skip(14);
  const [zeroRootHash, zeroFileHash] = [slice.hash(), slice.hash()];
  slice.skip(32);
  slice.skip(isBasic ? 4 + 32 + 64 : 4 + 3 * 12 + 32);
  if (isSecond) slice.skip(4);
  return {
    enabledSince,
    minSplit,
    maxSplit,
    active,
    zeroRootHash,
    zeroFileHash,
    splitMergeDelaySeconds: isSecond ? slice.uint(32) : DEFAULT_DELAY_SECONDS,
    splitMergeIntervalSeconds: isSecond ? slice.uint(32) : DEFAULT_INTERVAL_SECONDS,
  };
}
