import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { DecodeError } from '../errors.ts';

/** Parameter 28: formation of validator groups; lifetimes in seconds. */
export type CatchainConfig = {
  /** True to shuffle the masterchain's validators for each session (service/proof/README.md#validator-set). */
  readonly shuffleMasterchainValidators: boolean;
  readonly masterchainLifetimeSeconds: number;
  readonly shardLifetimeSeconds: number;
  readonly shardValidatorsLifetimeSeconds: number;
  readonly shardValidators: number;
};

/**
 * `catchain_config#c1 mc_catchain_lifetime:uint32 shard_catchain_lifetime:uint32 shard_validators_lifetime:uint32
 * shard_validators_num:uint32`; `catchain_config_new#c2` has `flags:(## 7) { flags = 0 } shuffle_mc_validators:Bool` first.
 */
export function readCatchainConfig(table: CellTable, cell: number): CatchainConfig {
  const slice = new CellSlice(table, cell);
  const tag = slice.uint(8);
  if (tag !== 0xc1 && tag !== 0xc2) {
    throw new DecodeError('bad_tag', 'The cell is no CatchainConfig.', { cell, type: 'CatchainConfig', found: tag });
  }
  if (tag === 0xc2) slice.expectTag(7, 0, 'CatchainConfig');
  return {
    shuffleMasterchainValidators: tag === 0xc2 && slice.bit(),
    masterchainLifetimeSeconds: slice.uint(32),
    shardLifetimeSeconds: slice.uint(32),
    shardValidatorsLifetimeSeconds: slice.uint(32),
    shardValidators: slice.uint(32),
  };
}
