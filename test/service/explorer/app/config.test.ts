import { beginCell, Dictionary, type Builder, type DictionaryValue } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { writeBoc } from '#service/decode/boc-writer.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { storeGenesisConfig } from '#service/devchain/zerostate/genesis-config.ts';
import { parseBoc } from '#service/explorer/app/cells.ts';
import { decodeConfig, decodeParameter } from '#service/explorer/app/config/parameters.ts';
import type { ConfigValue } from '#service/explorer/app/config/values.ts';

const key = Buffer.alloc(32, 0x77);

function genesis() {
  const store = createCellStore();
  const zero = { rootHash: Buffer.alloc(32, 1), fileHash: Buffer.alloc(32, 2) };
  const root = storeGenesisConfig(store, {
    globalId: -217,
    validators: [{ publicKey: key, weight: 17n, adnlAddress: undefined }],
    utime: 1_795_000_000,
    basechain: zero,
    minSplit: 0,
    maxSplit: 4,
    splitMergeDelaySeconds: 100,
    splitMergeIntervalSeconds: 60,
  });
  return decodeConfig(parseBoc(writeBoc(store, [root]).toString('base64')));
}

/** Rows of a parameter as `name: text`, groups and lists as JSON. */
function rowsOf(value: ConfigValue | undefined): Readonly<Record<string, unknown>> {
  const rows = value?.kind === 'group' ? value.rows : [];
  return Object.fromEntries(rows.map(([name, { kind: _kind, ...own }]) => [name, Object.values(own)[0]]));
}

const cellOf = (bits: (builder: ReturnType<typeof beginCell>) => unknown) => {
  const builder = beginCell();
  bits(builder);
  return parseBoc(builder.endCell().toBoc().toString('base64'));
};

const hexOf = (byte: number): string => byte.toString(16).padStart(2, '0').repeat(32);
const bytes = (byte: number): Buffer => Buffer.alloc(32, byte);

describe('the configuration on a page', () => {
  it('has each parameter of a private network decoded and titled', () => {
    const parameters = genesis();
    expect(parameters.length).toBeGreaterThan(25);
    expect(parameters.filter(({ value, title }) => value === undefined || title === undefined)).toEqual([]);
  });

  it('has the values that the network was made with', () => {
    const byId = new Map(genesis().map(({ id, value }) => [id, value]));
    expect(byId.get(0)).toEqual({
      kind: 'group',
      rows: [['address', { kind: 'account', address: `-1:${'5'.repeat(64)}` }]],
    });
    expect(rowsOf(byId.get(8))).toEqual({ version: '14', capabilities: '494' });
    expect(rowsOf(byId.get(17))).toEqual({
      min_stake: '300000000000000',
      max_stake: '10000000000000000',
      min_total_stake: '300000000000000',
      max_stake_factor: '196608',
    });
    expect(rowsOf(byId.get(19))).toEqual({ global_id: '-217' });
    expect(rowsOf(byId.get(21))).toMatchObject({ flat_gas_price: '6667', delete_due_limit: '1000000000' });
    expect(rowsOf(byId.get(29))).toMatchObject({ consensus_timeout_ms: '16000', catchain_max_blocks_coeff: '10000' });
    expect(rowsOf(byId.get(34))).toMatchObject({ utime_since: 1_795_000_000, main: '1', total_weight: '17' });
    expect(JSON.stringify(byId.get(34))).toContain(key.toString('hex'));
    expect(rowsOf(byId.get(43))).toMatchObject({ max_msg_bits: '2097152', acc_state_cells_for_storage_dict: '26' });
  });

  it('has no value for a form that the explorer does not know', () => {
    expect(
      decodeParameter(
        8,
        cellOf((cell) => cell.storeUint(0xc5, 8)),
      ),
    ).toMatchObject({ id: 8, value: undefined });
    expect(
      decodeParameter(
        17,
        cellOf((cell) => cell.storeUint(1, 3)),
      ),
    ).toMatchObject({ value: undefined });
    expect(
      decodeParameter(
        -999,
        cellOf((cell) => cell.storeUint(1, 3)),
      ),
    ).toEqual({
      id: -999,
      title: undefined,
      value: undefined,
    });
  });

  it('has older forms of a parameter without their later fields', () => {
    const sizes = cellOf((cell) =>
      cell
        .storeUint(2, 8)
        .storeUint(0, 32 * 3 + 16 + 32 + 16)
        .storeUint(9, 32 * 5),
    );
    expect(rowsOf(decodeParameter(43, sizes).value)).toMatchObject({ max_msg_extra_currencies: '9' });
  });

  it('has the simplex consensus in both forms', () => {
    const first = beginCell().storeUint(0x21, 8).storeUint(1, 8);
    for (const value of [400, 4, 1000, 250]) first.storeUint(value, 32);
    const entries = Dictionary.empty(Dictionary.Keys.Uint(8), Dictionary.Values.Uint(32));
    entries.set(0, 2400);
    entries.set(2, new Uint32Array(Float32Array.of(1.2).buffer)[0]!);
    entries.set(77, 5);
    const second = beginCell().storeUint(0x22, 8).storeUint(0, 8).storeUint(8, 32).storeDict(entries);
    const cell = cellOf((all) => all.storeUint(0x10, 8).storeMaybeRef(first.endCell()).storeMaybeRef(second.endCell()));
    const { rows } = decodeParameter(30, cell).value as Extract<ConfigValue, { kind: 'group' }>;
    expect(rows.map(([name, value]) => [name, rowsOf(value)])).toEqual([
      [
        'masterchain',
        {
          use_quic: true,
          target_rate_ms: '400',
          slots_per_leader_window: '4',
          first_block_timeout_ms: '1000',
          max_leader_window_desync: '250',
        },
      ],
      [
        'shards',
        {
          use_quic: false,
          slots_per_leader_window: '8',
          target_rate_ms: '2400',
          first_block_timeout_multiplier: '1.2',
          parameter_77: '5',
        },
      ],
    ]);
  });

  it('has the temporary keys of validators', () => {
    const temporary = beginCell().storeUint(3, 4).storeBuffer(bytes(1)).storeUint(0x8e81278a, 32).storeBuffer(bytes(2));
    const signed = beginCell()
      .storeUint(4, 4)
      .storeRef(temporary.storeUint(9, 32).storeUint(1_795_000_000, 32).endCell())
      .storeUint(5, 4)
      .storeBuffer(Buffer.alloc(64, 3));
    const keys = Dictionary.empty(Dictionary.Keys.Buffer(32), builders);
    keys.set(bytes(0xab), signed);
    const { value } = decodeParameter(
      39,
      cellOf((cell) => cell.storeDict(keys)),
    );
    const [only] = value?.kind === 'list' ? value.items : [];
    expect(rowsOf(only)).toEqual({
      validator: hexOf(0xab),
      adnl_addr: hexOf(1),
      temp_public_key: hexOf(2),
      seqno: '9',
      valid_until: 1_795_000_000,
    });
  });

  const oracleRow = [{ kind: 'group', rows: [hashRow('oracle', 0x0a), hashRow('address_in_the_other_chain', 0x0b)] }];

  it.each([71, 72, 73])('has the bridge of parameter %i', (id) => {
    const cell = cellOf((all) =>
      all.storeBuffer(bytes(1)).storeBuffer(bytes(2)).storeDict(oracles).storeBuffer(bytes(3)),
    );
    expect(rowsOf(decodeParameter(id, cell).value)).toEqual({
      bridge_address: `-1:${hexOf(1)}`,
      oracle_multisig_address: `-1:${hexOf(2)}`,
      external_chain_address: hexOf(3),
      oracles: oracleRow,
    });
  });

  it.each([79, 81, 82])('has the token bridge of parameter %i in both forms', (id) => {
    const fees = beginCell();
    for (const fee of [1n, 2n, 3n, 4n, 5n, 6n]) fees.storeCoins(fee);
    const first = cellOf((all) => bridgeHead(all, 0).storeCoins(77n));
    const second = cellOf((all) => bridgeHead(all, 1).storeRef(fees.endCell()).storeBuffer(bytes(3)));
    const shared = { bridge_address: `-1:${hexOf(1)}`, oracles_address: `-1:${hexOf(2)}`, state_flags: '5' };
    expect(rowsOf(decodeParameter(id, first).value)).toEqual({ ...shared, burn_bridge_fee: '77', oracles: oracleRow });
    const value = decodeParameter(id, second).value as Extract<ConfigValue, { kind: 'group' }>;
    expect(rowsOf(value)).toMatchObject({ ...shared, external_chain_address: hexOf(3), oracles: oracleRow });
    expect(rowsOf(value.rows.find(([name]) => name === 'prices')?.[1])).toMatchObject({
      bridge_burn_fee: '1',
      discover_gas_consumption: '6',
    });
  });
});

const oracles = Dictionary.empty(Dictionary.Keys.Buffer(32), Dictionary.Values.Buffer(32));
oracles.set(bytes(0x0a), bytes(0x0b));

function hashRow(name: string, byte: number) {
  return [name, { kind: 'hash', hex: hexOf(byte) }];
}

/** Fields that both forms of a token bridge begin with. */
const bridgeHead = (builder: Builder, tag: number) =>
  builder.storeUint(tag, 8).storeBuffer(bytes(1)).storeBuffer(bytes(2)).storeDict(oracles).storeUint(5, 8);

/** Values of a dictionary that a test writes bit by bit. */
const builders: DictionaryValue<Builder> = {
  serialize: (value, builder) => void builder.storeBuilder(value),
  parse: () => beginCell(),
};
