import { BitWriter } from '../bit-writer.ts';
import type { CellStore } from '../cell-store.ts';
import { updateHashmap } from '../hashmap-writer.ts';
import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { DecodeError } from '../errors.ts';
import { keyUint, uintKey, walkHashmap } from '../hashmap.ts';

/** Parameters 32 to 37: validators of one round. */
export type ValidatorSet = {
  /** Unix seconds. */
  readonly utimeSince: number;
  readonly utimeUntil: number;
  /** Number of validators, and number of the first ones that validate the masterchain. */
  readonly total: number;
  readonly main: number;
  /** Sum of all weights; checked if the set states it. */
  readonly totalWeight: bigint;
  readonly list: readonly ValidatorDescr[];
};

/** Validator of a set. */
export type ValidatorDescr = {
  /** Ed25519, 32 bytes. */
  readonly publicKey: Buffer;
  readonly weight: bigint;
  /** 32 bytes; undefined for `validator#53`, which has none. */
  readonly adnlAddress: Buffer | undefined;
};

/**
 * `validators#11 utime_since:uint32 utime_until:uint32 total:(## 16) main:(## 16) { main <= total } { main >= 1 } list:(Hashmap 16 ValidatorDescr)`.
 * `validators_ext#12` ends with `total_weight:uint64 list:(HashmapE 16 ValidatorDescr)`. The list must be numbered 0..total-1 and its weights must
 * sum up. Throws DecodeError `bad_tag`, `bad_value`.
 */
export function readValidatorSet(table: CellTable, cell: number): ValidatorSet {
  const slice = new CellSlice(table, cell);
  const tag = slice.uint(8);
  if (tag !== 0x11 && tag !== 0x12) {
    throw new DecodeError('bad_tag', 'The cell is no ValidatorSet.', { cell, type: 'ValidatorSet', found: tag });
  }
  const utimeSince = slice.uint(32);
  const utimeUntil = slice.uint(32);
  const total = slice.uint(16);
  const main = slice.uint(16);
  if (main < 1 || main > total) {
    throw new DecodeError('bad_value', 'A validator set has more main validators than it lists.', {
      cell,
      found: main,
      limit: total,
    });
  }
  const stated = tag === 0x12 ? slice.uint64() : undefined;
  const list: ValidatorDescr[] = [];
  const add = (key: Buffer, value: CellSlice): void => {
    if (keyUint(key, 16) !== list.length) throw new DecodeError('bad_value', 'A validator set has a gap.', { cell });
    list.push(readValidatorDescr(value));
  };
  // `Hashmap` without E starts in the same cell.
  if (tag === 0x12) walkHashmap(table, slice.maybeRef(), 16, add);
  else walkHashmap(table, slice, 16, add);
  const totalWeight = list.reduce((sum, { weight }) => sum + weight, 0n);
  if (list.length !== total || (stated !== undefined && stated !== totalWeight)) {
    throw new DecodeError('bad_value', 'A validator set states another total than its list has.', {
      cell,
      found: list.length,
    });
  }
  return { utimeSince, utimeUntil, total, main, totalWeight, list };
}

/**
 * `validator#53 public_key:SigPubKey weight:uint64`, `validator_addr#73 public_key:SigPubKey weight:uint64 adnl_addr:bits256`,
 * `ed25519_pubkey#8e81278a pubkey:bits256 = SigPubKey`.
 */
function readValidatorDescr(slice: CellSlice): ValidatorDescr {
  const tag = slice.uint(8);
  if (tag !== 0x53 && tag !== 0x73) {
    throw new DecodeError('bad_tag', 'The cell is no ValidatorDescr.', {
      cell: slice.cell,
      type: 'ValidatorDescr',
      found: tag,
    });
  }
  slice.expectTag(32, 0x8e81278a, 'SigPubKey');
  return {
    publicKey: slice.hash(),
    weight: slice.uint64(),
    adnlAddress: tag === 0x73 ? slice.hash() : undefined,
  };
}

/** Makes a cell of `validators_ext#12`; the totals are computed from the list. */
export function storeValidatorSet(
  store: CellStore,
  { utimeSince, utimeUntil, main, list }: Pick<ValidatorSet, 'utimeSince' | 'utimeUntil' | 'main' | 'list'>,
): number {
  const changes = list.map((validator, index) => ({
    key: uintKey(index, 16),
    write: (writer: BitWriter): void => writeValidatorDescr(writer, validator),
  }));
  return new BitWriter()
    .uint(0x12, 8)
    .uint(utimeSince, 32)
    .uint(utimeUntil, 32)
    .uint(list.length, 16)
    .uint(main, 16)
    .int(
      list.reduce((sum, { weight }) => sum + weight, 0n),
      64,
    )
    .maybeRef(updateHashmap(store, undefined, { bits: 16 }, changes))
    .finish(store);
}

function writeValidatorDescr(writer: BitWriter, { publicKey, weight, adnlAddress }: ValidatorDescr): void {
  writer
    .uint(adnlAddress === undefined ? 0x53 : 0x73, 8)
    .int(0x8e81278a, 32)
    .bytes(publicKey)
    .int(weight, 64);
  if (adnlAddress !== undefined) writer.bytes(adnlAddress);
}
