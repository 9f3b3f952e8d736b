import { MASTERCHAIN } from '../decode/block-id.ts';
import { parseBoc, parseBocInSteps } from '../decode/boc.ts';
import type { Boc } from '../decode/boc.ts';
import { writeBocInSteps } from '../decode/boc-writer.ts';
import { createCellStore } from '../decode/cell-store.ts';
import type { CellStore } from '../decode/cell-store.ts';
import { CellSlice } from '../decode/cell-slice.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { DecodeError } from '../decode/errors.ts';
import type { Account } from '../decode/tlb/account.ts';
import { readAccount } from '../decode/tlb/account.ts';
import { readMessage } from '../decode/tlb/message.ts';
import type { MessageInfo } from '../decode/tlb/message.ts';
import { readTransaction } from '../decode/tlb/transaction.ts';
import { BitWriter } from '../decode/bit-writer.ts';
import { TvmError } from './errors.ts';
import { gasAtExhaustion } from './gas-trace.ts';
import type { CellUsage, MessagePrices, Prices } from './prices.ts';
import { forwardFee, gasBought, gasFee, readPrices, storageFee } from './prices.ts';
import { openShardAccount } from './shard-account.ts';
import type { Tvm, TvmWorld } from './tvm.ts';

/** Await it between two parts of long work, so that other requests run. Undefined while there is no need. */
export type Pause = () => Promise<void> | undefined;

export type FeesRequest = TvmWorld & {
  /** Called between the cells of the account and of the message. Default: no pauses. */
  readonly pause?: Pause;
  readonly address: { readonly workchain: number; readonly id: Buffer };
  /** `Account` as a bag of cells; null when there is none. */
  readonly account: Buffer | null;
  /** Body of the external message, as a bag of cells. */
  readonly body: Buffer;
  /** State to deploy, as bags of cells; used when there is code and the account is not active. */
  readonly initCode: Buffer | null;
  readonly initData: Buffer | null;
  /** Every signature counts as good. */
  readonly ignoreSignature: boolean;
};

/** Cost of sending an external message for its account, in nanotons. */
export type SourceFees = {
  /** Fee for importing the message. */
  readonly inForwardFee: bigint;
  /** Fee for storage since the last payment. */
  readonly storageFee: bigint;
  /** 0 when the contract does not accept the message. */
  readonly gasFee: bigint;
  /** Fee for the messages that the contract sends. */
  readonly forwardFee: bigint;
};

/** Most actions that the reference client's library counts. */
const ACTIONS_MAX = 20;

/**
 * Estimates fees like the reference client's library (`query.estimateFees`). The contract runs on its state with its whole balance, whatever is due.
 * Its messages are charged by size, even if it cannot pay. Throws TvmError like `emulateTransaction`, and `fees_unsupported` for more than 20 actions
 * or an action that sets code.
 */
export async function estimateFees(tvm: Pick<Tvm, 'emulateTransaction'>, request: FeesRequest): Promise<SourceFees> {
  try {
    return await estimate(tvm, request);
  } catch (error) {
    if (error instanceof DecodeError) throw new TvmError('tvm_bad_request', { detail: error.message }, error);
    throw error;
  }
}

async function estimate(tvm: Pick<Tvm, 'emulateTransaction'>, request: FeesRequest): Promise<SourceFees> {
  const { address, utime } = request;
  const isMasterchain = address.workchain === MASTERCHAIN;
  const config = parseBoc(request.config.boc);
  const prices = readPrices(config, config.roots[0]!, isMasterchain);
  const inPrices = isMasterchain ? prices.messages.masterchain : prices.messages.basechain;
  const { pause = noPause } = request;
  const { store, account, state } = await readSource(request, pause);
  const body = await importBoc(store, request.body, pause);
  const message = writeExternal(store, address, body, account?.state.kind === 'active' ? undefined : state);
  const fees = {
    inForwardFee: forwardFee(inPrices, await usageBelow(store, message, pause)),
    storageFee:
      account === undefined ? 0n : storageFee(prices.storage, account.storage, account.storage.lastPaid, utime),
    gasFee: 0n,
    forwardFee: 0n,
  };
  if (state === undefined) return fees;
  const run = await runSource(tvm, request, { store, account, state, body, prices, inPrices });
  if (run === undefined) return fees;
  const forwarded = run.actions === undefined ? 0n : await actionsFee(run.actions, prices, { isMasterchain, pause });
  return { ...fees, gasFee: gasFee(prices.gas, run.gas), forwardFee: forwarded };
}

type Source = {
  readonly store: CellStore;
  readonly account: Account | undefined;
  readonly state: SourceState;
  readonly body: number;
  readonly prices: Prices;
  readonly inPrices: MessagePrices;
};

/**
 * Returns the gas used and the actions of the run; undefined when the message is not accepted.
 *
 * The library gives every contract the whole credit before it accepts. A block gives at most as much as the balance can pay. The run of a poor
 * account therefore uses a rich balance, and is cut where its affordable gas ends.
 */
async function runSource(
  tvm: Pick<Tvm, 'emulateTransaction'>,
  request: FeesRequest,
  { store, account, state, body, prices, inPrices }: Source,
): Promise<{ readonly gas: bigint; readonly actions: Buffer | undefined } | undefined> {
  const { pause = noPause } = request;
  const balance = account?.balance.grams ?? 0n;
  const gasMax = gasBought(prices.gas, balance);
  const isPoor = gasMax < prices.gas.credit;
  const message = writeExternal(store, request.address, body, undefined);
  // The emulator takes the import fee first. The fee is added to the balance, so that the contract sees the balance it has.
  const importFee = forwardFee(inPrices, await usageBelow(store, message, pause));
  const given = importFee + (isPoor ? gasFee(prices.gas, prices.gas.limit) : balance);
  const source = await paced(writeBocInSteps(store, writeSource(store, request, account, state, given)), pause);
  const result = await tvm.emulateTransaction({
    ...request,
    shardAccount: openShardAccount(source, await paced(parseBocInSteps(source), pause)),
    message: await paced(writeBocInSteps(store, message), pause),
    lt: (account?.lastTransactionLt ?? 0n) + 1n,
    gasTrace: isPoor,
  });
  if (result.kind === 'rejected') return undefined;
  const exhausted = result.gasTrace && gasAtExhaustion(result.gasTrace, prices.gas.limit, gasMax);
  if (exhausted !== undefined) return { gas: exhausted, actions: undefined };
  return { gas: gasUsed(result.transaction), actions: result.actions };
}

/** Code and data that a message would run, as cells of the store. */
type SourceState = { readonly code: number | undefined; readonly data: number | undefined };

async function readSource(
  { account: bytes, initCode, initData }: FeesRequest,
  pause: Pause,
): Promise<{
  readonly store: CellStore;
  readonly account: Account | undefined;
  readonly state: SourceState | undefined;
}> {
  const store = createCellStore();
  const account = bytes === null ? undefined : readAccount(store, await importBoc(store, bytes, pause));
  if (account?.state.kind === 'active') return { store, account, state: account.state.init };
  if (initCode === null) return { store, account, state: undefined };
  const data = initData === null ? undefined : await importBoc(store, initData, pause);
  return { store, account, state: { code: await importBoc(store, initCode, pause), data } };
}

const noPause: Pause = () => undefined;

/** Bytes of a bag of few cells. Its steps would cost more than its cells. */
const SMALL_BYTES = 8192;

/** References of a bag point to later cells, so the work begins with the last cell. */
async function importBoc(store: CellStore, bytes: Buffer, pause: Pause): Promise<number> {
  if (bytes.length <= SMALL_BYTES) {
    const small = parseBoc(bytes, { rootsMax: 1 });
    return store.import(small, small.roots[0]!);
  }
  const boc = await paced(parseBocInSteps(bytes, { rootsMax: 1 }), pause);
  for (let cell = boc.size - 1; cell >= 0; cell--) {
    const rest = pause();
    if (rest !== undefined) await rest;
    store.import(boc, cell);
  }
  return store.import(boc, boc.roots[0]!);
}

async function paced<T>(steps: Generator<undefined, T>, pause: Pause): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const rest = pause();
    if (rest !== undefined) await rest;
  }
}

/** Content of an external message: a body, and a state for an account without one. Each is a bag of cells with one root. */
export type ExternalContent = Pick<FeesRequest, 'body' | 'initCode' | 'initData'>;

/** Writes an external message like the reference client's library. Rejects with DecodeError when a part is no bag of cells. */
export async function writeExternalMessage(
  address: FeesRequest['address'],
  { body, initCode, initData }: ExternalContent,
  pause: Pause = noPause,
): Promise<Buffer> {
  const store = createCellStore();
  const data = initData === null ? undefined : await importBoc(store, initData, pause);
  const state = initCode === null ? undefined : { code: await importBoc(store, initCode, pause), data };
  const message = writeExternal(store, address, await importBoc(store, body, pause), state);
  return paced(writeBocInSteps(store, message), pause);
}

/** `addr_std$10 anycast:(Maybe Anycast) workchain_id:int8 address:bits256`. */
function writeAddress(writer: BitWriter, { workchain, id }: FeesRequest['address']): BitWriter {
  return writer.int(4, 3).int(workchain, 8).bytes(id);
}

/** `StateInit` without rarer parts. */
function writeState(writer: BitWriter, { code, data }: SourceState): BitWriter {
  return writer.int(0, 2).maybeRef(code).maybeRef(data).bit(false);
}

/**
 * `message$_ info:CommonMsgInfo init:(Maybe (Either StateInit ^StateInit)) body:(Either X ^X)` with `ext_in_msg_info$10 src:MsgAddressExt
 * dest:MsgAddressInt import_fee:Grams`. If the body fits, it is inside the message, because its size affects the fee.
 */
function writeExternal(
  store: CellStore,
  address: FeesRequest['address'],
  body: number,
  state: SourceState | undefined,
): number {
  const writeHead = (): BitWriter => {
    const writer = writeAddress(new BitWriter().int(8, 4), address).int(0, 4);
    return state === undefined ? writer.bit(false) : writeState(writer.int(2, 2), state);
  };
  const inside = writeHead().bit(false);
  const fits = inside.length + store.bitLength(body) <= 1023 && inside.refCount + store.refCount(body) <= 4;
  if (!fits || store.kind(body) !== 'ordinary') return writeHead().bit(true).ref(body).finish(store);
  inside.copy(store.bytes, store.dataOffset(body) * 8, store.bitLength(body));
  for (let at = 0; at < store.refCount(body); at++) inside.ref(store.ref(body, at));
  return inside.finish(store);
}

/** Puts the account into the store as `ShardAccount`: active with this state and balance, without storage debt. */
function writeSource(
  store: CellStore,
  { address, utime }: FeesRequest,
  account: Account | undefined,
  state: SourceState,
  balance: bigint,
): number {
  const { cells, bits } = account?.storage ?? { cells: 0, bits: 0 };
  const lastLt = account?.lastTransactionLt ?? 0n;
  // `ShardAccount` contains the lt of the transaction itself, which is below that of its last message.
  const transactionLt = lastLt === 0n ? 0n : lastLt - 1n;
  const writer = writeAddress(new BitWriter().bit(true), address);
  writer.varUint(BigInt(cells), 7).varUint(BigInt(bits), 7).int(0, 3).int(utime, 32).bit(false);
  writer.int(lastLt, 64).varUint(balance, 16).maybeRef(account?.balance.extra);
  const cell = writeState(writer.bit(true), state).finish(store);
  return new BitWriter().ref(cell).bytes(Buffer.alloc(32)).int(transactionLt, 64).finish(store);
}

function gasUsed(transaction: Buffer): bigint {
  const boc = parseBoc(transaction);
  const { descr } = readTransaction(boc, boc.roots[0]!);
  return descr.kind === 'ordinary' && descr.compute.kind === 'vm' ? BigInt(descr.compute.gasUsed) : 0n;
}

const [SEND_MESSAGE, SET_CODE] = [0x0ec3c86d, 0xad4de08e];

/** `out_list_empty$_`, `out_list$_ prev:^(OutList n) action:OutAction`, `action_send_msg#0ec3c86d mode:(## 8) out_msg:^(MessageRelaxed Any)`. */
async function actionsFee(
  outList: Buffer,
  { messages }: Prices,
  { isMasterchain, pause }: { readonly isMasterchain: boolean; readonly pause: Pause },
): Promise<bigint> {
  const boc = await paced(parseBocInSteps(outList), pause);
  let total = 0n;
  for (const action of listActions(boc)) {
    const tag = action.uint(32);
    if (tag === SET_CODE) throw unsupported('an action that sets code');
    if (tag !== SEND_MESSAGE) continue;
    action.skip(8);
    const { toMasterchain, usage } = await readSent(boc, action.ref(), pause);
    total += forwardFee(isMasterchain || toMasterchain ? messages.masterchain : messages.basechain, usage);
  }
  return total;
}

/** Returns slices at each action, the last action first. */
function listActions(boc: Boc): CellSlice[] {
  const actions: CellSlice[] = [];
  let slice = new CellSlice(boc, boc.roots[0]!);
  while (slice.remainingBits > 0) {
    if (actions.length === ACTIONS_MAX) throw unsupported(`more than ${ACTIONS_MAX} actions`, ACTIONS_MAX);
    const previous = slice.ref();
    actions.push(slice);
    slice = new CellSlice(boc, previous);
  }
  return actions;
}

async function readSent(
  table: CellTable,
  cell: number,
  pause: Pause,
): Promise<{ toMasterchain: boolean; usage: CellUsage }> {
  const info = readInfo(table, cell);
  if (info.kind !== 'internal') return { toMasterchain: false, usage: await usageBelow(table, cell, pause) };
  const ofInfo = info.value.extra === undefined ? 0 : 1;
  return {
    toMasterchain: info.destination.workchain === MASTERCHAIN,
    usage: await usageBelow(table, cell, pause, ofInfo),
  };
}

function readInfo(table: CellTable, cell: number): MessageInfo {
  try {
    return readMessage(table, cell).info;
  } catch (error) {
    if (error instanceof DecodeError) throw unsupported('a message that cannot be read', undefined, error);
    throw error;
  }
}

/** Counts cells and bits below a cell, from one of its references on. Each hash counts once; the cell itself is not counted. */
async function usageBelow(table: CellTable, root: number, pause: Pause, firstRef = 0): Promise<CellUsage> {
  const seen = new Set<string>();
  let bits = 0;
  const waiting: number[] = [];
  const push = (cell: number, from: number): void => {
    for (let at = from; at < table.refCount(cell); at++) waiting.push(table.ref(cell, at));
  };
  push(root, firstRef);
  for (let cell = waiting.pop(); cell !== undefined; cell = waiting.pop()) {
    const rest = pause();
    if (rest !== undefined) await rest;
    const hash = table.hash(cell).toString('latin1');
    if (seen.has(hash)) continue;
    seen.add(hash);
    bits += table.bitLength(cell);
    push(cell, 0);
  }
  return { cells: seen.size, bits };
}

function unsupported(what: string, limit?: number, cause?: unknown): TvmError {
  const bound = limit === undefined ? {} : { limit };
  return new TvmError('fees_unsupported', { detail: `fees are not estimated for ${what}`, ...bound }, cause);
}
