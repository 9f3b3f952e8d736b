import type { BitWriter } from '../bit-writer.ts';
import type { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { keyUint, lookupHashmap, uintKey, walkHashmap } from '../hashmap.ts';

/** The blockchain configuration: its contract's account id in the masterchain, and the root of the dictionary. */
export type ConfigParams = { readonly address: Buffer; readonly root: number };

/** `_ config_addr:bits256 config:^(Hashmap 32 ^Cell) = ConfigParams`. */
export function readConfigParams(slice: CellSlice): ConfigParams {
  return { address: slice.hash(), root: slice.ref() };
}

/**
 * Cell of a configuration parameter (signed 32-bit number); undefined when it is not set. Throws DecodeError `pruned_branch` when a proof hides the
 * position.
 */
export function findConfigParam(table: CellTable, root: number, param: number): number | undefined {
  return lookupHashmap(table, root, 32, uintKey(param, 32))?.ref();
}

/** All parameters and their cells, in the order of the dictionary: 0 and up, then the negative ones. */
export function listConfigParams(table: CellTable, root: number): Map<number, number> {
  const params = new Map<number, number>();
  walkHashmap(table, root, 32, (key, value) => {
    params.set(keyUint(key, 32) | 0, value.ref());
  });
  return params;
}

/** The reverse of `readConfigParams`. */
export function writeConfigParams(writer: BitWriter, { address, root }: ConfigParams): BitWriter {
  return writer.bytes(address).ref(root);
}
