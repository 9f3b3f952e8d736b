import { readDictionary, readerOf, type Cell, type Reader } from '../cells.ts';
import { jettonBridge, oracleBridge } from './bridges.ts';
import { newConsensus } from './new-consensus.ts';
import { expectTag, group, inRef, maybeRoot, plain, readFields, tagged } from './read-fields.ts';
import { temporaryKeys } from './temporary-keys.ts';
import type { ConfigParameter, ConfigValue } from './values.ts';

type Read = (reader: Reader, cell: Cell) => ConfigValue;

const proposalSetup = tagged(8, {
  0x36:
    'min_tot_rounds:u8 max_tot_rounds:u8 min_wins:u8 max_losses:u8 min_store:seconds max_store:seconds ' +
    'bit_price:nano32 cell_price:nano32',
});

const gasLimits = 'gas_limit:u64 special_gas_limit:u64 gas_credit:u64 block_gas_limit:u64';
const dueLimits = 'freeze_due_limit:nano64 delete_due_limit:nano64';

/** Prices of gas: 2^16 times the nanotons of a unit. */
const gasPrices: Read = (reader) => {
  const rows = [];
  for (;;) {
    const tag = Number(reader.uint(8));
    if (tag === 0xd1) rows.push(...readFields(reader, 'flat_gas_limit:u64 flat_gas_price:nano64'));
    else if (tag === 0xde) return group([...rows, ...readFields(reader, `gas_price:u64 ${gasLimits} ${dueLimits}`)]);
    else if (tag === 0xdd) {
      const layout = `gas_price:u64 gas_limit:u64 gas_credit:u64 block_gas_limit:u64 ${dueLimits}`;
      return group([...rows, ...readFields(reader, layout)]);
    } else throw new Error('an unknown tag');
  }
};

const blockLimits: Read = (reader) => {
  const tag = Number(reader.uint(8));
  if (tag !== 0x5d && tag !== 0x5e) throw new Error('an unknown tag');
  const rows = readFields(reader, 'bytes:limits gas:limits lt_delta:limits');
  if (tag === 0x5d) return group(rows);
  const collated = readFields(reader, 'collated_data:limits');
  expectTag(reader, 8, 0xd3);
  return group([...rows, ...collated, ...readFields(reader, 'queue_max_bytes:u32 queue_max_msgs:u32')]);
};

const forwardPrices = tagged(8, {
  0xea: 'lump_price:nano64 bit_price:u64 cell_price:u64 ihr_price_factor:u32 first_frac:u16 next_frac:u16',
});

/** Validators of one set that are listed. */
const VALIDATORS_MAX = 1000;

const validators: Read = (reader) => {
  const tag = Number(reader.uint(8));
  if (tag !== 0x11 && tag !== 0x12) throw new Error('an unknown tag');
  const head = readFields(reader, 'utime_since:time utime_until:time total:u16 main:u16');
  const weight = tag === 0x12 ? readFields(reader, 'total_weight:u64') : [];
  const root = tag === 0x12 ? maybeRoot(reader) : undefined;
  const entries = tag === 0x11 ? readRest(reader, 16) : root === undefined ? [] : readDictionary(root, 16);
  const items = entries.slice(0, VALIDATORS_MAX).map(([, value]) => validator(value));
  return group([...head, ...weight, ['validators', { kind: 'list', items }]]);
};

function validator(reader: Reader): ConfigValue {
  const tag = Number(reader.uint(8));
  if (tag !== 0x53 && tag !== 0x73) throw new Error('an unknown tag');
  expectTag(reader, 32, 0x8e81278a);
  return group(readFields(reader, tag === 0x73 ? 'key:hash weight:u64 adnl:hash' : 'key:hash weight:u64'));
}

/** A dictionary whose first edge is the rest of the cell. */
function readRest(reader: Reader, keyBits: number): ReturnType<typeof readDictionary> {
  const bitLength = reader.bitsLeft();
  const hex = reader.hex(bitLength);
  const bits = Uint8Array.from((hex.length % 2 === 0 ? hex : `${hex}0`).match(/../g) ?? [], (pair) =>
    Number.parseInt(pair, 16),
  );
  const refs = Array.from({ length: reader.refsLeft() }, reader.ref);
  return readDictionary({ bits, bitLength, refs, isExotic: false }, keyBits);
}

const parameterIds: Read = (_reader, cell) => ({
  kind: 'list',
  items: readDictionary(cell, 32).map(([key]) => ({ kind: 'number', text: BigInt.asIntN(32, key).toString() })),
});

const workchainLayout =
  'enabled_since:time actual_min_split:u8 min_split:u8 max_split:u8 basic:flag active:flag accept_msgs:flag ' +
  'flags:u13 zerostate_root_hash:hash zerostate_file_hash:hash version:u32';

const workchains: Read = (reader) => {
  const root = maybeRoot(reader);
  const entries = root === undefined ? [] : readDictionary(root, 32);
  return {
    kind: 'list',
    items: entries.map(([key, value]) => {
      const tag = Number(value.uint(8));
      if (tag !== 0xa6 && tag !== 0xa7) throw new Error('an unknown tag');
      const id = BigInt.asIntN(32, key).toString();
      return group([['workchain', { kind: 'number', text: id }], ...readFields(value, workchainLayout)]);
    }),
  };
};

const storagePrices: Read = (_reader, cell) => ({
  kind: 'list',
  items: readDictionary(cell, 32).map(([, value]) => {
    expectTag(value, 8, 0xcc);
    return plain('since:time bit_price_ps:u64 cell_price_ps:u64 mc_bit_price_ps:u64 mc_cell_price_ps:u64')(value);
  }),
});

const burning: Read = (reader) => {
  expectTag(reader, 8, 0x01);
  const blackhole = reader.bit() ? readFields(reader, 'blackhole:account') : [];
  return group([...blackhole, ...readFields(reader, 'fee_burn_num:u32 fee_burn_denom:u32')]);
};

const votes: Read = (reader) => {
  expectTag(reader, 8, 0x91);
  return group([
    ['normal', inRef(reader, proposalSetup)],
    ['critical', inRef(reader, proposalSetup)],
  ]);
};

const toMint: Read = (reader) => {
  const root = maybeRoot(reader);
  const entries = root === undefined ? [] : readDictionary(root, 32);
  return {
    kind: 'list',
    items: entries.map(([key, value]) =>
      group([
        ['currency', { kind: 'number', text: BigInt.asIntN(32, key).toString() }],
        ['amount', { kind: 'number', text: value.uint(8 * Number(value.uint(5))).toString() }],
      ]),
    ),
  };
};

const fundamental: Read = (reader) => {
  const root = maybeRoot(reader);
  const entries = root === undefined ? [] : readDictionary(root, 256);
  return { kind: 'list', items: entries.map(([key]) => ({ kind: 'account', address: accountOf(-1n, key) })) };
};

const suspended: Read = (reader) => {
  expectTag(reader, 8, 0);
  const root = maybeRoot(reader);
  const entries = root === undefined ? [] : readDictionary(root, 288);
  const items = entries.map(([key]): ConfigValue => ({
    kind: 'account',
    address: accountOf(BigInt.asIntN(32, key >> 256n), BigInt.asUintN(256, key)),
  }));
  return group([...readFields(reader, 'suspended_until:time'), ['accounts', { kind: 'list', items }]]);
};

const precompiled: Read = (reader) => {
  expectTag(reader, 8, 0xc0);
  const root = maybeRoot(reader);
  const entries = root === undefined ? [] : readDictionary(root, 256);
  return {
    kind: 'list',
    items: entries.map(([key, value]) => {
      expectTag(value, 8, 0xb0);
      const hex = key.toString(16).padStart(64, '0');
      return group([['code', { kind: 'hash', hex }], ...readFields(value, 'gas_usage:u64')]);
    }),
  };
};

function accountOf(workchain: bigint, id: bigint): string {
  return `${workchain}:${id.toString(16).padStart(64, '0').toUpperCase()}`;
}

const consensusLayout =
  'next_candidate_delay_ms:u32 consensus_timeout_ms:u32 fast_attempts:u32 attempt_duration:u32 ' +
  'catchain_max_deps:u32 max_block_bytes:u32 max_collated_bytes:u32';
const consensusHead = `:u7 new_catchain_ids:flag round_candidates:u8 ${consensusLayout}`;

const catchainLayout =
  'mc_catchain_lifetime:seconds shard_catchain_lifetime:seconds shard_validators_lifetime:seconds ' +
  'shard_validators_num:u32';

const sizeLayout =
  'max_msg_bits:u32 max_msg_cells:u32 max_library_cells:u32 max_vm_data_depth:u16 max_ext_msg_size:u32 ' +
  'max_ext_msg_depth:u16';

const account = plain('address:account');

/** Titles of parameters, and forms of those that are decoded. */
const known: Readonly<Record<number, readonly [title: string, read?: Read]>> = {
  0: ['Contract of the configuration', account],
  1: ['Elector', account],
  2: ['Minter of extra currencies', account],
  3: ['Collector of fees', account],
  4: ['Root of domains', account],
  5: ['Burning of fees', burning],
  6: ['Price of minting', plain('mint_new_price:coins mint_add_price:coins')],
  7: ['Extra currencies to mint', toMint],
  8: ['Version of the rules', tagged(8, { 0xc4: 'version:u32 capabilities:u64' })],
  9: ['Parameters that must be set', parameterIds],
  10: ['Critical parameters', parameterIds],
  11: ['Votes on parameters', votes],
  12: ['Workchains', workchains],
  13: ['Price of complaints', tagged(8, { 0x1a: 'deposit:coins bit_price:coins cell_price:coins' })],
  14: ['Reward for a block', tagged(8, { 0x6b: 'masterchain_block_fee:coins basechain_block_fee:coins' })],
  15: [
    'Times of elections',
    plain(
      'validators_elected_for:seconds elections_start_before:seconds elections_end_before:seconds stake_held_for:seconds',
    ),
  ],
  16: ['Counts of validators', plain('max_validators:u16 max_main_validators:u16 min_validators:u16')],
  17: ['Limits of stakes', plain('min_stake:coins max_stake:coins min_total_stake:coins max_stake_factor:u32')],
  18: ['Prices of storage (2^-16 nanotons a second)', storagePrices],
  19: ['Global id of the network', plain('global_id:i32')],
  20: ['Prices of gas in the masterchain', gasPrices],
  21: ['Prices of gas', gasPrices],
  22: ['Limits of masterchain blocks', blockLimits],
  23: ['Limits of blocks', blockLimits],
  24: ['Prices of messages in the masterchain', forwardPrices],
  25: ['Prices of messages', forwardPrices],
  28: [
    'Groups of validators',
    tagged(8, { 0xc1: catchainLayout, 0xc2: `:u7 shuffle_mc_validators:flag ${catchainLayout}` }),
  ],
  29: [
    'Consensus',
    tagged(8, {
      0xd6: `round_candidates:u32 ${consensusLayout}`,
      0xd7: consensusHead,
      0xd8: `${consensusHead} proto_version:u16`,
      0xd9: `${consensusHead} proto_version:u16 catchain_max_blocks_coeff:u32`,
    }),
  ],
  30: ['New consensus', newConsensus],
  31: ['Special accounts', fundamental],
  32: ['Validators of the last round', validators],
  33: ['Validators of the last round, not in force', validators],
  34: ['Validators', validators],
  35: ['Validators, not in force', validators],
  36: ['Validators of the next round', validators],
  37: ['Validators of the next round, not in force', validators],
  39: ['Temporary keys of validators', temporaryKeys],
  40: [
    'Fines',
    tagged(8, {
      0x01:
        'default_flat_fine:coins default_proportional_fine:u32 severity_flat_mult:u16 severity_proportional_mult:u16 ' +
        'unpunishable_interval:u16 long_interval:u16 long_flat_mult:u16 long_proportional_mult:u16 ' +
        'medium_interval:u16 medium_flat_mult:u16 medium_proportional_mult:u16',
    }),
  ],
  43: [
    'Limits of sizes',
    tagged(8, {
      0x01: sizeLayout,
      0x02:
        `${sizeLayout} max_acc_state_cells:u32 max_mc_acc_state_cells:u32 max_acc_public_libraries:u32 ` +
        'defer_out_queue_size_limit:u32 max_msg_extra_currencies:u32 max_acc_fixed_prefix_length:u8? ' +
        'acc_state_cells_for_storage_dict:u32?',
    }),
  ],
  44: ['Suspended accounts', suspended],
  45: ['Precompiled contracts', precompiled],
  71: ['Bridge to Ethereum', oracleBridge],
  72: ['Bridge to BNB Smart Chain', oracleBridge],
  73: ['Bridge to Polygon', oracleBridge],
  79: ['Token bridge from Ethereum', jettonBridge],
  81: ['Token bridge from BNB Smart Chain', jettonBridge],
  82: ['Token bridge from Polygon', jettonBridge],
};

/** Decodes a parameter; without a value when it has no known form. */
export function decodeParameter(id: number, cell: Cell): ConfigParameter {
  const [title, read] = known[id] ?? [];
  let value: ConfigValue | undefined;
  try {
    value = read?.(readerOf(cell), cell);
  } catch {
    // A newer version of the rules has another form.
  }
  return { id, title, value };
}

/** All parameters of a configuration, by id. @param root cell of the dictionary */
export function decodeConfig(root: Cell): readonly ConfigParameter[] {
  return readDictionary(root, 32)
    .map(([key, value]) => decodeParameter(Number(BigInt.asIntN(32, key)), value.ref()))
    .toSorted((one, other) => one.id - other.id);
}
