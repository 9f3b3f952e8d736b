import { Address, beginCell, Cell, loadAccount } from '@ton/core';
import type { Account as CoreAccount, Builder } from '@ton/core';
import { describe, expect, it } from 'vitest';
import { parseBoc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { merkleProofRoot } from '#service/decode/merkle.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import type { Account } from '#service/decode/tlb/account.ts';
import { listExtraCurrencies } from '#service/decode/tlb/currency-collection.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { answerBags } from '../recorded.ts';

const address = Address.parseRaw(`-1:${'3c'.repeat(32)}`);

function read(cell: Cell): Account | undefined {
  const boc = parseBoc(cell.toBoc());
  return readAccount(boc, boc.roots[0]!);
}

/** Returns an account up to its state, field by field like block.tlb. */
function account(extra: (builder: Builder) => Builder, state: (builder: Builder) => Builder, due?: bigint): Cell {
  const builder = beginCell().storeBit(true).storeAddress(address).storeVarUint(22, 3).storeVarUint(5697, 3);
  extra(builder)
    .storeUint(1_700_000_000, 32)
    .storeBit(due !== undefined);
  if (due !== undefined) builder.storeCoins(due);
  return state(builder.storeUint(123n, 64).storeCoins(9n).storeBit(false)).endCell();
}

const noExtra = (builder: Builder): Builder => builder.storeUint(0, 3);
const uninit = (builder: Builder): Builder => builder.storeUint(0, 2);

/** Writes a state with every part: a prefix length, tock, code 1, data 2 and libraries 3. */
function active(builder: Builder): Builder {
  return builder
    .storeBit(true)
    .storeBit(true)
    .storeUint(19, 5)
    .storeBit(true)
    .storeBit(false)
    .storeBit(true)
    .storeBit(true)
    .storeRef(beginCell().storeUint(1, 8))
    .storeBit(true)
    .storeRef(beginCell().storeUint(2, 8))
    .storeBit(true)
    .storeRef(beginCell().storeUint(3, 8));
}

describe('readAccount', () => {
  it('an absent account is undefined', () => {
    expect(read(beginCell().storeBit(false).endCell())).toBeUndefined();
  });

  it('the common fields of all kinds of state are read', () => {
    expect(read(account(noExtra, uninit))).toMatchObject({
      address: { workchain: -1, id: address.hash },
      storage: { cells: 22, bits: 5697, dictHash: undefined, lastPaid: 1_700_000_000, duePayment: undefined },
      lastTransactionLt: 123n,
      balance: { grams: 9n, extra: undefined },
      state: { kind: 'uninit' },
    });
    expect(read(account(noExtra, uninit, 77n))!.storage.duePayment).toBe(77n);
  });

  it('the storage dictionary hash of newer states is read, and other forms are refused', () => {
    const hash = Buffer.alloc(32, 8);
    const found = read(account((builder) => builder.storeUint(1, 3).storeBuffer(hash), uninit));
    expect(found!.storage.dictHash).toEqual(hash);
    expect(() => read(account((builder) => builder.storeUint(2, 3), uninit))).toThrow(
      expect.objectContaining({ code: 'bad_tag' }),
    );
  });

  it('frozen and active states are read with every part', () => {
    const hash = Buffer.alloc(32, 6);
    expect(read(account(noExtra, (builder) => builder.storeUint(0b01, 2).storeBuffer(hash)))!.state).toEqual({
      kind: 'frozen',
      stateHash: hash,
    });
    const cell = account(noExtra, active);
    const boc = parseBoc(cell.toBoc());
    const { state } = readAccount(boc, boc.roots[0]!)!;
    expect(state).toMatchObject({
      kind: 'active',
      init: { fixedPrefixLength: 19, special: { tick: false, tock: true } },
    });
    const { init } = state as Extract<typeof state, { kind: 'active' }>;
    const first = (at: number | undefined): number => boc.bytes[boc.dataOffset(at!)]!;
    expect([init.code, init.data, init.libraries].map(first)).toEqual([1, 2, 3]);
  });
});

/** Returns cells of accounts in recorded answers: ordinary roots that start like an account in the masterchain or basechain. */
function recordedAccounts(): { table: CellTable; cell: number }[] {
  return answerBags().flatMap(({ name, bytes }) => {
    if (!name.startsWith('liteServer.getAccountState')) return [];
    const boc = parseBoc(bytes);
    if (boc.roots.length !== 1) return [];
    const [root] = boc.roots as [number];
    return [{ table: boc, cell: boc.kind(root) === 'merkleProof' ? merkleProofRoot(boc, root) : root }];
  });
}

const recorded = recordedAccounts();

/** Returns the fields that both readers have. */
function coreView(value: CoreAccount) {
  const { state } = value.storage;
  return {
    address: value.addr.toRawString(),
    used: [Number(value.storageStats.used.cells), Number(value.storageStats.used.bits)],
    paid: [value.storageStats.lastPaid, value.storageStats.duePayment ?? undefined],
    lt: value.storage.lastTransLt,
    grams: value.storage.balance.coins,
    extra: value.storage.balance.other
      ? value.storage.balance.other.keys().map((id) => [id | 0, value.storage.balance.other!.get(id)])
      : [],
    state: state.type,
    code: state.type === 'active' ? state.state.code?.hash().toString('hex') : undefined,
    data: state.type === 'active' ? state.state.data?.hash().toString('hex') : undefined,
  };
}

function ourView(table: CellTable, value: Account): ReturnType<typeof coreView> {
  const { state } = value;
  const hash = (cell: number | undefined) => (cell === undefined ? undefined : table.hash(cell).toString('hex'));
  return {
    address: `${value.address.workchain}:${value.address.id.toString('hex')}`,
    used: [value.storage.cells, value.storage.bits],
    paid: [value.storage.lastPaid, value.storage.duePayment],
    lt: value.lastTransactionLt,
    grams: value.balance.grams,
    extra: listExtraCurrencies(table, value.balance.extra).map(({ id, amount }) => [id, amount]),
    state: state.kind,
    code: state.kind === 'active' ? hash(state.init.code) : undefined,
    data: state.kind === 'active' ? hash(state.init.data) : undefined,
  };
}

describe.skipIf(skipLoudly(recorded.length === 0, { what: 'recorded accounts', why: 'no fixtures' }))(
  'recorded accounts',
  () => {
    it('recorded accounts are read like by @ton/core, pruned or whole', () => {
      const views = recorded.map(({ table, cell }) => {
        const slice = Cell.fromBoc(writeBoc(table, [cell]))[0]!.beginParse();
        slice.skip(1);
        return { ours: ourView(table, readAccount(table, cell)!), core: coreView(loadAccount(slice)) };
      });
      expect(views.map(({ ours }) => ours)).toEqual(views.map(({ core }) => core));
    });
  },
);
