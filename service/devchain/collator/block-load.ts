import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellStore } from '#service/decode/cell-store.ts';

/** Load of a block: its size, the gas of its transactions and its lt range. */
export type BlockLoad = { readonly bytes: number; readonly gas: number; readonly ltDelta: number };

/**
 * Parameters 22 (masterchain) and 23. A block is light when every measure is at most `light`. It is heavy when any measure reaches `heavy`.
 */
export type BlockLimits = { readonly light: BlockLoad; readonly heavy: BlockLoad };

/** Messages in a shard's queue from which on the shard does not request a merge, as in the node. */
const LIGHT_QUEUE_MAX = 2047n;

/**
 * Reads `block_limits#5d bytes:ParamLimits gas:ParamLimits lt_delta:ParamLimits`, each `param_limits#c3 underload:# soft_limit:#
 * hard_limit:#`. `block_limits_v2#5e` has more fields at the end.
 */
export function readBlockLimits(states: CellStore, cell: number): BlockLimits {
  const slice = new CellSlice(states, cell);
  slice.skip(8);
  const [bytes, gas, ltDelta] = [readParamLimits(slice), readParamLimits(slice), readParamLimits(slice)];
  return {
    light: { bytes: bytes.light, gas: gas.light, ltDelta: ltDelta.light },
    heavy: { bytes: bytes.heavy, gas: gas.heavy, ltDelta: ltDelta.heavy },
  };
}

function readParamLimits(slice: CellSlice): { readonly light: number; readonly heavy: number } {
  slice.expectTag(8, 0xc3, 'ParamLimits');
  const limits = { light: slice.uint(32), heavy: slice.uint(32) };
  slice.skip(32);
  return limits;
}

/** True for a block after which its shard could be merged. */
export function isLight({ light }: BlockLimits, load: BlockLoad, queueSize: bigint): boolean {
  if (queueSize > LIGHT_QUEUE_MAX) return false;
  return load.bytes < light.bytes && load.gas < light.gas && load.ltDelta < light.ltDelta;
}

/** True for a block after which its shard could be split. */
export function isHeavy({ heavy }: BlockLimits, { bytes, gas, ltDelta }: BlockLoad): boolean {
  return bytes >= heavy.bytes || gas >= heavy.gas || ltDelta >= heavy.ltDelta;
}
