import {
  Address,
  beginCell,
  Cell,
  loadTransaction,
  storeMessage,
  type CommonMessageInfo,
  type CommonMessageInfoExternalIn,
  type Message,
  type Transaction,
  type TransactionComputePhase,
  type TransactionDescription,
} from '@ton/core';
import { beforeAll, describe, expect, it } from 'vitest';

import type { StoreReader } from '#service/store/queries/reader.ts';
import type { FoundTransaction } from '#service/store/queries/transactions.ts';
import type { AccountStateRow } from '#service/store/tables.ts';
import type { MessageView } from '#service/v3/views/message-views.ts';
import type { TransactionView } from '#service/v3/views/transaction-views.ts';
import { createTransactionRenderer } from '#service/v3/rendering/transaction-renderer.ts';
import { recordedRows } from '#test/support/recorded-index.ts';

/** Every recorded transaction, as shown and as another decoder reads it. */
let pairs: { readonly view: TransactionView; readonly other: Transaction; readonly workchain: number }[] = [];
let states: ReadonlyMap<string, AccountStateRow>;

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

beforeAll(async () => {
  const rows = await recordedRows();
  states = new Map(rows.flatMap(({ accountStates }) => accountStates.map((row) => [text(row.hash), row] as const)));
  const transactions = rows.flatMap((one) =>
    one.transactions.map((row) => ({ ...row, trace_id: row.hash, global_version: 11 }) as unknown as FoundTransaction),
  );
  const store: StoreReader = {
    read: async (_sql, [hashes]) => (hashes as Buffer[]).flatMap((one) => states.get(text(one)) ?? []) as never,
  };
  const views = await shownBy(store, transactions);
  pairs = views.map((view, at) => ({
    view,
    other: loadTransaction(Cell.fromBoc(transactions[at]!.boc)[0]!.beginParse()),
    workchain: transactions[at]!.workchain,
  }));
});

/** As answers show them the first time. */
async function shownBy(store: StoreReader, rows: readonly FoundTransaction[]): Promise<readonly TransactionView[]> {
  const writer = createTransactionRenderer({});
  const written = await (await writer.open(rows, store)).write(store);
  return written.map(({ json }) => json.toJSON());
}

function addressText(address: unknown): string | null {
  return Address.isAddress(address) ? `${address.workChain}:${address.hash.toString('hex').toUpperCase()}` : null;
}

const nothing = {
  source: null,
  destination: null,
  value: null,
  fwd_fee: null,
  ihr_fee: null,
  extra_flags: null,
  created_lt: null,
  created_at: null,
  ihr_disabled: null,
  bounce: null,
  bounced: null,
  import_fee: null,
};

function expectedInfo(info: CommonMessageInfo): object {
  if (info.type === 'external-in') {
    return { ...nothing, destination: addressText(info.dest), import_fee: info.importFee.toString() };
  }
  const sent = {
    ...nothing,
    source: addressText(info.src),
    created_lt: info.createdLt.toString(),
    created_at: info.createdAt.toString(),
  };
  if (info.type === 'external-out') return sent;
  return {
    ...sent,
    destination: addressText(info.dest),
    value: info.value.coins.toString(),
    fwd_fee: info.forwardFee.toString(),
    ihr_fee: info.ihrFee.toString(),
    ihr_disabled: info.ihrDisabled,
    bounce: info.bounce,
    bounced: info.bounced,
  };
}

function expectMessage(view: MessageView, { info, body, init }: Message): void {
  expect(view).toMatchObject(expectedInfo(info));
  expect(view.message_content?.hash).toBe(text(body.hash()));
  expect(Cell.fromBase64(view.message_content!.body!).equals(body)).toBe(true);
  const opcode = body.isExotic || body.bits.length < 32 ? null : body.beginParse().loadUint(32);
  expect(view.opcode).toBe(opcode === null ? null : `0x${opcode.toString(16).padStart(8, '0')}`);
  expect(view.init_state === null).toBe(init === null || init === undefined);
}

/** What is told of a transaction's course, as far as the other decoder names it. */
function expectedDescription(read: TransactionDescription): object {
  const storage = 'storagePhase' in read ? read.storagePhase : undefined;
  const action = 'actionPhase' in read ? read.actionPhase : undefined;
  return {
    type: types[read.type],
    ...('aborted' in read && { aborted: read.aborted }),
    ...(storage && { storage_ph: { storage_fees_collected: storage.storageFeesCollected.toString() } }),
    ...('computePhase' in read && { compute_ph: expectedCompute(read.computePhase) }),
    ...(action && {
      action: {
        success: action.success,
        result_code: action.resultCode,
        tot_actions: action.totalActions,
        msgs_created: action.messagesCreated,
        action_list_hash: hashText(action.actionListHash),
        tot_msg_size: {
          cells: action.totalMessageSize.cells.toString(),
          bits: action.totalMessageSize.bits.toString(),
        },
      },
    }),
  };
}

function expectedCompute(read: TransactionComputePhase): object {
  if (read.type === 'skipped') return { skipped: true, reason: read.reason.replaceAll('-', '_') };
  return {
    skipped: false,
    success: read.success,
    gas_fees: read.gasFees.toString(),
    gas_used: read.gasUsed.toString(),
    gas_limit: read.gasLimit.toString(),
    exit_code: read.exitCode,
    vm_steps: read.vmSteps,
    mode: read.mode,
  };
}

function hashText(hash: bigint): string {
  return Buffer.from(hash.toString(16).padStart(64, '0'), 'hex').toString('base64');
}

/** A state that blocks told has its balance, one that they did not has none, and no account has nothing. */
function expectedState(status: string, row: AccountStateRow | undefined): object {
  if (status === 'nonexist') return { account_status: 'nonexist', balance: '0' };
  return { account_status: status, balance: row === undefined ? null : row.balance.toString() };
}

/** Messages from account to account. */
function internalOf({ in_msg, out_msgs }: TransactionView): MessageView[] {
  return [in_msg, ...out_msgs].filter((one): one is MessageView => one !== null && one.value !== null);
}

function takenBy(cell: Cell): Message | undefined {
  return loadTransaction(cell.beginParse()).inMessage ?? undefined;
}

describe('a transaction as v3 shows it', () => {
  it('is every recorded one', () => {
    expect(pairs.length).toBeGreaterThan(1000);
  });

  it('has the fields that another decoder reads', () => {
    for (const { view, other, workchain } of pairs) {
      expect(view).toMatchObject({
        account: `${workchain}:${other.address.toString(16).padStart(64, '0').toUpperCase()}`,
        hash: text(other.hash()),
        lt: other.lt.toString(),
        now: other.now,
        prev_trans_hash: hashText(other.prevTransactionHash),
        prev_trans_lt: other.prevTransactionLt.toString(),
        total_fees: other.totalFees.coins.toString(),
        emulated: false,
        finality: 'finalized',
      });
      expect(statuses[other.oldStatus]).toBe(view.orig_status);
      expect(statuses[other.endStatus]).toBe(view.end_status);
      expect(view.account_state_before?.hash).toBe(text(other.stateUpdate.oldHash));
      expect(view.account_state_after?.hash).toBe(text(other.stateUpdate.newHash));
    }
  });

  it('has the messages that another decoder reads, those it sent in the order of their lt', () => {
    let messages = 0;
    for (const { view, other } of pairs) {
      expect(view.in_msg === null).toBe(other.inMessage === null || other.inMessage === undefined);
      if (view.in_msg !== null && other.inMessage) expectMessage(view.in_msg, other.inMessage);
      const sent = other.outMessages.values();
      expect(view.out_msgs).toHaveLength(sent.length);
      view.out_msgs.forEach((one, at) => expectMessage(one, sent[at]!));
      const lts = view.out_msgs.map(({ created_lt }) => BigInt(created_lt!));
      expect(lts).toEqual(lts.toSorted((a, b) => Number(a - b)));
      messages += sent.length;
    }
    expect(messages).toBeGreaterThan(500);
  });

  it('has the phases that another decoder reads', () => {
    const kinds = new Set(pairs.map(({ view }) => view.description.type));
    for (const { view, other } of pairs) expect(view.description).toMatchObject(expectedDescription(other.description));
    expect(kinds).toContain('ord');
    expect(kinds).toContain('tick_tock');
  });

  it('has the states of its account from the blocks, and no others', () => {
    let whole = 0;
    for (const { view } of pairs) {
      for (const [state, status] of [
        [view.account_state_before!, view.orig_status],
        [view.account_state_after!, view.end_status],
      ] as const) {
        const row = states.get(state.hash);
        expect(state).toMatchObject(expectedState(status, row));
        whole += row === undefined ? 0 : 1;
      }
    }
    expect(whole).toBeGreaterThan(1000);
  });

  it('says nothing of other currencies that blocks hid, and that there are none where there are none', async () => {
    const row = (await recordedRows()).flatMap((one) => one.transactions).at(-1)!;
    const found = { ...row, trace_id: row.hash, global_version: 11 } as unknown as FoundTransaction;
    const shown = async (currencies: AccountStateRow['extra_currencies']): Promise<unknown> => {
      const known = [...states.values()].map((state) => ({ ...state, extra_currencies: currencies }));
      const [view] = await shownBy({ read: async () => known as never }, [found]);
      return view!.account_state_after!.extra_currencies;
    };
    expect(await shown({})).toBeNull();
    expect(await shown(null)).toEqual({});
    expect(await shown({ '100': '7' })).toEqual({ '100': '7' });
  });

  it('has no import fee of more than 64 bits', async () => {
    const rows = (await recordedRows()).flatMap((one) => one.transactions);
    const cells = rows.map((row) => ({ row, cell: Cell.fromBoc(Buffer.from(row.boc))[0]! }));
    const { row, cell } = cells.find((one) => takenBy(one.cell)?.info.type === 'external-in')!;
    const [messages, ...rest] = cell.refs;
    const taken = takenBy(cell)!;
    const shown = async (importFee: bigint): Promise<string | null> => {
      const info = { ...(taken.info as CommonMessageInfoExternalIn), importFee };
      const changed = beginCell()
        .store(storeMessage({ ...taken, info }))
        .endCell();
      const held = new Cell({ bits: messages!.bits, refs: [changed, ...messages!.refs.slice(1)] });
      const boc = new Cell({ bits: cell.bits, refs: [held, ...rest] }).toBoc();
      const found = { ...row, boc, trace_id: row.hash, global_version: 11 } as unknown as FoundTransaction;
      return (await shownBy({ read: async () => [] }, [found]))[0]!.in_msg!.import_fee;
    };
    expect(await shown(2n ** 63n - 1n)).toBe('9223372036854775807');
    expect(await shown(2n ** 63n)).toBeNull();
  });

  it('has flags in place of a fee where the version of its block has them', async () => {
    const [row] = (await recordedRows())
      .flatMap((one) => one.transactions)
      .filter(({ in_msg_hash: taken }) => taken !== null)
      .slice(-1);
    const store: StoreReader = { read: async () => [] };
    const shown = async (version: number | null): Promise<TransactionView> => {
      const found = { ...row, trace_id: row!.hash, global_version: version } as unknown as FoundTransaction;
      return (await shownBy(store, [found]))[0]!;
    };
    for (const one of internalOf(await shown(12)))
      expect([one.ihr_fee, one.extra_flags]).toEqual(['0', expect.any(String)]);
    for (const one of internalOf(await shown(11))) expect(one.extra_flags).toBeNull();
    for (const one of internalOf(await shown(null))) expect(one.extra_flags).toBeNull();
  });
});

const statuses = { uninitialized: 'uninit', frozen: 'frozen', active: 'active', 'non-existing': 'nonexist' } as const;

const types = {
  generic: 'ord',
  storage: 'storage',
  'tick-tock': 'tick_tock',
  'split-prepare': 'split_prepare',
  'split-install': 'split_install',
  'merge-prepare': 'merge_prepare',
  'merge-install': 'merge_install',
} as const;
