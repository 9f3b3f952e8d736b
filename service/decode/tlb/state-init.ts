import type { BitWriter } from '../bit-writer.ts';
import type { CellSlice } from '../cell-slice.ts';

/** Initial state of a contract: cells of code and data, and rarer parts. */
export type StateInit = {
  /** 0..31 address bits that are equal for all shards of the contract (`split_depth` before version 10). */
  readonly fixedPrefixLength: number | undefined;
  /** Flags of special accounts of the masterchain, which run at the start (tick) or end (tock) of each block. */
  readonly special: { readonly tick: boolean; readonly tock: boolean } | undefined;
  readonly code: number | undefined;
  readonly data: number | undefined;
  /** Root of `HashmapE 256 SimpleLib`. */
  readonly libraries: number | undefined;
};

/**
 * `_ fixed_prefix_length:(Maybe (## 5)) special:(Maybe TickTock) code:(Maybe ^Cell) data:(Maybe ^Cell)
 * library:(HashmapE 256 SimpleLib) = StateInit`, `tick_tock$_ tick:Bool tock:Bool`.
 */
export function readStateInit(slice: CellSlice): StateInit {
  return {
    fixedPrefixLength: slice.bit() ? slice.uint(5) : undefined,
    special: slice.bit() ? { tick: slice.bit(), tock: slice.bit() } : undefined,
    code: slice.maybeRef(),
    data: slice.maybeRef(),
    libraries: slice.maybeRef(),
  };
}

/** The reverse of `readStateInit`. */
export function writeStateInit(writer: BitWriter, init: StateInit): BitWriter {
  const { fixedPrefixLength, special } = init;
  writer.bit(fixedPrefixLength !== undefined);
  if (fixedPrefixLength !== undefined) writer.uint(fixedPrefixLength, 5);
  writer.bit(special !== undefined);
  if (special !== undefined) writer.bit(special.tick).bit(special.tock);
  return writer.maybeRef(init.code).maybeRef(init.data).maybeRef(init.libraries);
}
