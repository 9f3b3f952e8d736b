import { beginCell } from '@ton/core';
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
});
