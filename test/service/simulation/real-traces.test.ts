import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { Address, beginCell, Cell, storeShardAccount, type Builder } from '@ton/core';
import { WalletContractV3R2, WalletContractV4, WalletContractV5R1 } from '@ton/ton';
import { afterAll, describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import type { Action } from '#service/actions/engine/action-rows.ts';
import { eventTransaction } from '#service/actions/engine/event-transaction.ts';
import { formatRawAddress } from '#service/decode/address.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { digestBody } from '#service/decode/tlb/message.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import { simulateMessage, type SimulatedTransaction } from '#service/simulation/simulate-message.ts';
import { listLibraryHashes } from '#service/tvm/libraries.ts';
import {
  openShardAccount,
  writeShardAccount,
  NO_TRANSACTION,
  type OpenedShardAccount,
} from '#service/tvm/shard-account.ts';
import type { Tvm, TvmConfig } from '#service/tvm/tvm.ts';
import { startTvm } from '#test/service/tvm/recorded-world.ts';
import { fixtureFiles } from '#test/support/fixtures.ts';
import { readRecordedTrace, recordedTraceFiles } from '#test/support/recorded-traces.ts';
import { emptyChain } from '#test/support/simulated-chain.ts';
import { skipLoudly } from '#test/support/skips.ts';

/*
 * Recorded mainnet traces have no states. Two kinds of states follow from a trace. An account that the trace deploys did not exist before.
 * The seqno and the id of a wallet are in its signed message. Emulated transactions of both are compared with the real ones.
 */

type Message = {
  readonly msg_hash: string;
  readonly direction: 'in' | 'out';
  readonly source: string | null;
  readonly destination: string | null;
  readonly value: string | null;
  readonly fwd_fee: string | null;
  readonly ihr_fee: string | null;
  readonly created_lt: string | null;
  readonly created_at: number | null;
  readonly ihr_disabled: boolean | null;
  readonly bounce: boolean | null;
  readonly bounced: boolean | null;
  readonly body_hash: string;
  readonly message_content: { readonly body: string };
  readonly init_state?: { readonly body: string } | null;
};

type Transaction = {
  readonly account: string;
  readonly hash: string;
  readonly lt: string;
  readonly now: number;
  readonly orig_status: string;
  readonly end_status: string;
  readonly aborted: boolean;
  readonly destroyed: boolean;
  readonly bounce: string | null;
  readonly compute_exit_code: number | null;
  readonly total_fees: string;
  readonly account_state_hash_before: string;
  readonly messages: readonly Message[];
};

/** Unix seconds after which the prices of gas and of messages are those of the recorded configuration. */
const PRICES_SINCE = 1_720_000_000;

const files = recordedTraceFiles();
const [configFile] = fixtureFiles(/config-mainnet\.boc$/);
const noAccount = openShardAccount(writeShardAccount(undefined, NO_TRANSACTION));
const noAccountHash = noAccount.table.hash(noAccount.account).toString('base64');

const transactions = files.flatMap((file) => {
  const { transactions: all } = JSON.parse(readFileSync(file, 'utf8')) as { transactions: readonly Transaction[] };
  return all.map((transaction, at) => ({ name: `${basename(file, '.json')} ${at}`, isRoot: at === 0, transaction }));
});

const cellOf = (text: string): Cell => Cell.fromBase64(text);
const inbound = ({ messages }: Transaction): Message => messages.find(({ direction }) => direction === 'in')!;
const sent = ({ messages }: Transaction): readonly Message[] => messages.filter(({ direction }) => direction === 'out');

/** Puts state and body into a message in the form that has the real hash. */
function finish(head: Builder, { init_state: init, message_content: content, msg_hash: hash }: Message): Cell {
  const body = cellOf(content.body);
  const forms = [true, false].flatMap((isInitCell) => [true, false].map((isBodyCell) => ({ isInitCell, isBodyCell })));
  for (const { isInitCell, isBodyCell } of forms) {
    try {
      const builder = beginCell()
        .storeBuilder(head)
        .storeBit(init !== null && init !== undefined);
      if (init !== null && init !== undefined) {
        builder.storeBit(isInitCell);
        if (isInitCell) builder.storeRef(cellOf(init.body));
        else builder.storeSlice(cellOf(init.body).beginParse());
      }
      builder.storeBit(isBodyCell);
      const cell = isBodyCell ? builder.storeRef(body).endCell() : builder.storeSlice(body.beginParse()).endCell();
      if (cell.hash().toString('base64') === hash) return cell;
    } catch {
      // The cell has no room for this form.
    }
  }
  throw new Error(`no form of the message has the hash ${hash}`);
}

function internalMessage(message: Message): Cell {
  const head = beginCell()
    .storeBit(false)
    .storeBit(message.ihr_disabled!)
    .storeBit(message.bounce!)
    .storeBit(message.bounced!)
    .storeAddress(Address.parseRaw(message.source!))
    .storeAddress(Address.parseRaw(message.destination!))
    .storeCoins(BigInt(message.value!))
    .storeBit(false)
    .storeCoins(BigInt(message.ihr_fee!))
    .storeCoins(BigInt(message.fwd_fee!))
    .storeUint(BigInt(message.created_lt!), 64)
    .storeUint(message.created_at!, 32);
  return finish(head, message);
}

function externalMessage(message: Message): Cell {
  const head = beginCell().storeUint(0b10, 2).storeUint(0, 2).storeAddress(Address.parseRaw(message.destination!));
  return finish(head.storeCoins(0), message);
}

const noKey = { publicKey: Buffer.alloc(32), workchain: 0 };
const V5_ORDER = 0x7369676e;
/** Signature, wallet id, last time and seqno. */
const ORDER_BITS = 512 + 96;

/** Code and data of the wallet that an order is for, without the key; undefined for an order of another contract. */
function walletOf(body: Cell): { readonly code: Cell; readonly data: Cell } | undefined {
  const slice = body.beginParse();
  const refs = body.refs.length;
  const bits = body.bits.length;
  const dataOf = (walletId: number, seqno: number, isV5: boolean): Builder => {
    const data = isV5 ? beginCell().storeBit(true) : beginCell();
    return data.storeUint(seqno, 32).storeUint(walletId, 32).storeBuffer(noKey.publicKey);
  };
  if (bits >= 128 && slice.preloadUint(32) === V5_ORDER) {
    slice.skip(32);
    const [walletId, , seqno] = [slice.loadUint(32), slice.loadUint(32), slice.loadUint(32)];
    return {
      code: WalletContractV5R1.create(noKey).init.code,
      data: dataOf(walletId, seqno, true).storeBit(false).endCell(),
    };
  }
  const isV3 = bits === ORDER_BITS + 8 * refs;
  const isV4 = bits === ORDER_BITS + 8 * (1 + refs);
  if (refs === 0 || (!isV3 && !isV4)) return undefined;
  slice.skip(512);
  const [walletId, , seqno] = [slice.loadUint(32), slice.loadUint(32), slice.loadUint(32)];
  const data = dataOf(walletId, seqno, false);
  if (isV3) return { code: WalletContractV3R2.create(noKey).init.code, data: data.endCell() };
  return { code: WalletContractV4.create(noKey).init.code, data: data.storeBit(false).endCell() };
}

/** Nanotons that pay for everything. */
const RICH = 10n ** 16n;

/** Nanotons that pay for the gas of a wallet, and for no message of a recorded trace. */
const POOR = 10_000_000n;

function walletState(
  { account, now }: Transaction,
  { code, data }: { code: Cell; data: Cell },
  coins = RICH,
): OpenedShardAccount {
  const cell = beginCell().store(
    storeShardAccount({
      account: {
        addr: Address.parseRaw(account),
        storageStats: { used: { cells: 1n, bits: 1n }, storageExtra: null, lastPaid: now, duePayment: null },
        storage: {
          lastTransLt: 0n,
          balance: { coins },
          state: { type: 'active', state: { code, data } },
        },
      },
      lastTransactionHash: 0n,
      lastTransactionLt: 0n,
    }),
  );
  return openShardAccount(cell.endCell().toBoc());
}

function mainnetConfig(): TvmConfig {
  const boc = readFileSync(configFile!);
  const table = parseBoc(boc);
  return { hash: table.hash(table.roots[0]!), boc };
}

type Run = { readonly kind: 'account' | 'wallet'; readonly name: string; readonly transaction: Transaction };

type RebuiltRun = Run & { readonly state: OpenedShardAccount };

/** Transactions whose state before follows from their trace. */
function runsOf(): readonly RebuiltRun[] {
  return transactions.flatMap(({ name, isRoot, transaction }): RebuiltRun[] => {
    if (transaction.account_state_hash_before === noAccountHash) {
      return [{ kind: 'account', name, transaction, state: noAccount }];
    }
    const wallet = isRoot ? walletOf(cellOf(inbound(transaction).message_content.body)) : undefined;
    if (wallet === undefined) return [];
    return [{ kind: 'wallet', name, transaction, state: walletState(transaction, wallet) }];
  });
}

/** Code in a library is not in the trace. */
function needsLibrary(one: Transaction): boolean {
  const init = inbound(one).init_state?.body;
  return init !== undefined && listLibraryHashes(parseBoc(Buffer.from(init, 'base64'))).length > 0;
}

/** The part of a transaction that follows from the rebuilt state. The balance of a wallet does not. */
type Part = {
  readonly exitCode: number | null;
  readonly status: string;
  readonly fees: string | undefined;
  readonly sent: readonly string[];
};

/** @param hasPrices the configuration has the prices of the transaction, which its fees and messages have */
function realPart({ kind, transaction }: Run, hasPrices: boolean): Part {
  return {
    exitCode: transaction.compute_exit_code,
    status: transaction.end_status,
    fees: kind === 'account' && hasPrices ? transaction.total_fees : undefined,
    sent: sent(transaction).map(({ msg_hash: hash, body_hash: body }) => (hasPrices ? hash : body)),
  };
}

function emulatedPart({ kind }: Run, bytes: Buffer, hasPrices: boolean): Part {
  const table = parseBoc(bytes);
  const { descr, endStatus, totalFees, outMessages } = readTransaction(table, table.roots[0]!);
  const compute = descr.kind === 'ordinary' ? descr.compute : undefined;
  return {
    exitCode: compute?.kind === 'vm' ? compute.exitCode : null,
    status: endStatus,
    fees: kind === 'account' && hasPrices ? totalFees.grams.toString() : undefined,
    sent: outMessages.map(({ cell, body }) =>
      (hasPrices ? table.hash(cell) : digestBody(table, body).hash).toString('base64'),
    ),
  };
}

describe.skipIf(
  skipLoudly(files.length === 0 || configFile === undefined, { what: 'mainnet traces', why: 'no fixtures' }),
)('a transaction of a real trace, emulated on the state that follows from its trace', () => {
  const { tvm } = startTvm({ workers: 1 });
  afterAll(() => tvm.close());

  it.each(['account', 'wallet'] as const)(
    'is the real one in exit code, status, fees and sent messages: of a new %s',
    { timeout: 300_000 },
    async (kind) => {
      const config = mainnetConfig();
      const wrong: unknown[] = [];
      const runs = runsOf().filter((run) => run.kind === kind && !needsLibrary(run.transaction));
      expect(runs.length).toBeGreaterThan(0);
      for (const run of runs) {
        const { name, transaction, state } = run;
        const hasPrices = transaction.now >= PRICES_SINCE;
        const message = inbound(transaction);
        const isExternal = message.source === null;
        const real = realPart(run, hasPrices);
        // A wallet that could not pay had another balance.
        if (kind === 'wallet' && real.sent.length === 0) continue;
        const result = await tvm.emulateTransaction({
          config,
          utime: transaction.now,
          randSeed: Buffer.alloc(32),
          shardAccount: state,
          message: (isExternal ? externalMessage(message) : internalMessage(message)).toBoc(),
          lt: BigInt(transaction.lt),
          ignoreSignature: isExternal,
        });
        const emulated = result.kind === 'rejected' ? result.error : emulatedPart(run, result.transaction, hasPrices);
        if (!isDeepStrictEqual(emulated, real)) wrong.push({ name, real, emulated });
      }
      expect(wrong).toEqual([]);
    },
  );
});

type RealTrace = {
  readonly file: string;
  readonly transactions: readonly [Transaction, ...Transaction[]];
  /** States before the trace, by raw address. */
  readonly states: ReadonlyMap<string, OpenedShardAccount>;
};

/** Traces for which the states of all accounts follow from the trace. */
function wholeTraces(): readonly RealTrace[] {
  return files.flatMap((file): RealTrace[] => {
    const { transactions: all } = JSON.parse(readFileSync(file, 'utf8')) as Pick<RealTrace, 'transactions'>;
    const states = new Map<string, OpenedShardAccount>();
    for (const [at, one] of all.entries()) {
      const key = one.account.toLowerCase();
      if (states.has(key)) continue;
      const wallet = at === 0 ? walletOf(cellOf(inbound(one).message_content.body)) : undefined;
      const couldPay = sent(one).length > 0;
      if (one.account_state_hash_before === noAccountHash) states.set(key, noAccount);
      else if (wallet !== undefined) states.set(key, walletState(one, wallet, couldPay ? RICH : POOR));
      else return [];
    }
    return [{ file, transactions: all, states }];
  });
}

/** Runs the message of a trace, and all that it leads to, on the states before the trace. */
async function simulate(
  tvm: Tvm,
  { transactions: [root], states }: RealTrace,
): Promise<readonly SimulatedTransaction[]> {
  const config = mainnetConfig();
  const chain = emptyChain((call) =>
    tvm.emulateTransaction({ config, utime: root.now, randSeed: Buffer.alloc(32), ...call }),
  );
  const snapshot = {
    ...chain,
    // The block before the one of the first transaction ends below its lt.
    block: { ...chain.block, utime: root.now, endLt: BigInt(root.lt) - BLOCK_LTS },
    readShardAccount: async (account: Parameters<typeof formatRawAddress>[0]) => states.get(formatRawAddress(account))!,
  };
  const options = { transactionsMax: 256, depthMax: 32, ignoreSignature: true, signal: new AbortController().signal };
  const trace = await simulateMessage(snapshot, externalMessage(inbound(root)).toBoc(), options);
  if (trace.kind === 'rejected') throw new Error(trace.error);
  expect(trace.left).toBe(0);
  return trace.transactions;
}

/** Logical times of one block. */
const BLOCK_LTS = 1_000_000n;

function simulatedFacts({ workchain, table, transaction }: SimulatedTransaction): object {
  const { account, descr, originalStatus, endStatus, outMessages } = transaction;
  if (descr.kind !== 'ordinary') throw new Error(`a ${descr.kind} transaction`);
  return {
    account: `${workchain}:${account.toString('hex').toUpperCase()}`,
    statuses: [originalStatus, endStatus],
    isAborted: descr.aborted,
    isDestroyed: descr.destroyed,
    isBounced: descr.bounce !== undefined,
    exitCode: descr.compute.kind === 'vm' ? descr.compute.exitCode : null,
    bodies: outMessages.map(({ body }) => digestBody(table, body).hash.toString('base64')),
  };
}

function realFacts(one: Transaction): object {
  return {
    account: one.account,
    statuses: [one.orig_status, one.end_status],
    isAborted: one.aborted,
    isDestroyed: one.destroyed,
    isBounced: one.bounce !== null,
    exitCode: one.compute_exit_code,
    bodies: sent(one).map(({ body_hash: hash }) => hash),
  };
}

/** Nanotons: the storage fees of a wallet for two weeks. A trace does not show since when a wallet owes them. */
const STORAGE_FEES_MAX = 300_000n;

/** The part of an action that no lt and no hash changes. */
function shownAction({ type, success, source, destination, amount, value, opcode, data }: Action): object {
  return { type, success, source, destination, amount, value, opcode, data };
}

describe.skipIf(
  skipLoudly(files.length === 0 || configFile === undefined, { what: 'whole mainnet traces', why: 'no fixtures' }),
)('a real trace whose states all follow from it', () => {
  const { tvm } = startTvm({ workers: 1 });
  afterAll(() => tvm.close());

  it.each(wholeTraces().map((trace) => [basename(trace.file, '.json'), trace] as const))(
    'is the real one in accounts, phases, exit codes, fees, messages and actions: %s',
    async (_name, trace) => {
      const simulated = await simulate(tvm, trace);
      expect(simulated.map(simulatedFacts)).toEqual(trace.transactions.map(realFacts));
      for (const [at, { transaction }] of simulated.entries()) {
        const storageFees = BigInt(trace.transactions[at]!.total_fees) - transaction.totalFees.grams;
        expect([storageFees, storageFees >= 0n && storageFees < STORAGE_FEES_MAX]).toEqual([storageFees, true]);
      }
      const { trace: recorded, interfaces } = readRecordedTrace(trace.file);
      const events = simulated.map((one) => eventTransaction({ ...one, mcSeqno: recorded.mcSeqnoEnd }));
      const { actions } = classify({ ...recorded, transactions: events }, interfaces);
      expect(actions.map(shownAction)).toEqual(classify(recorded, interfaces).actions.map(shownAction));
      expect(actions.length).toBeGreaterThan(0);
    },
  );

  it('is among the recordings', () => {
    expect(wholeTraces().length).toBeGreaterThan(0);
  });
});
