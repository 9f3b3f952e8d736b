import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { findConfigParam } from './config-params.ts';

/** Version of the chain's rules, and capability bits. They are the ones in force, or the ones that a node's software knows. */
export type GlobalVersion = { readonly version: number; readonly capabilities: bigint };

/** `capabilities#c4 version:uint32 capabilities:uint64 = GlobalVersion`. */
export function readGlobalVersion(slice: CellSlice): GlobalVersion {
  slice.expectTag(8, 0xc4, 'GlobalVersion');
  return { version: slice.uint(32), capabilities: slice.uint64() };
}

const PARAM = 8;

/** Returns the rules in force, `_ GlobalVersion = ConfigParam 8`; all zeros when it is not set. @param root of a configuration's dictionary */
export function versionInForce(table: CellTable, root: number): GlobalVersion {
  const cell = findConfigParam(table, root, PARAM);
  return cell === undefined ? { version: 0, capabilities: 0n } : readGlobalVersion(new CellSlice(table, cell));
}

/** First version of the rules in which the bits of a message's `ihr_fee` are flags (service/indexer/README.md#rows). */
export const FLAGS_VERSION_MIN = 12;
