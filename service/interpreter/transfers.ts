import { address, coins, maybeAddress, openBody, tryRead, uint64 } from '../actions/engine/body.ts';
import type { EventMessage, EventTransaction } from '../actions/engine/classifier-input.ts';
import { parseAddress } from '../decode/address.ts';
import { writeBoc } from '../decode/boc-writer.ts';
import type { ContractSlice } from '../decode/cell-slice.ts';
import { createCellStore } from '../decode/cell-store.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { accountKey } from '../store/account-key.ts';
import type {
  JettonBurnRow,
  JettonTransferRow,
  JettonWalletRow,
  NftItemRow,
  NftTransferRow,
} from '../store/classification-tables.ts';
import type { StoredTransaction } from '../store/interpreted-rows.ts';

/** Opcodes of requests to contracts (service/indexer/README.md#transfers). */
export const TRANSFER_OPCODES = {
  jettonTransfer: 0x0f8a7ea5,
  jettonBurn: 0x595f07bc,
  nftTransfer: 0x5fcc3d14,
} as const;

const opcodes: ReadonlySet<number> = new Set(Object.values(TRANSFER_OPCODES));

/** How a wallet passes on what a transfer or a burn asks for (TEP-74): `internal_transfer`, `burn_notification`. */
const passingOpcodes: ReadonlySet<number> = new Set([0x178d4519, 0x7bdd97de]);

/** Messages by which a transaction of a wallet passes jettons on. */
export function passedOn({ outMessages }: EventTransaction): readonly EventMessage[] {
  return outMessages.filter(({ opcode }) => opcode !== null && passingOpcodes.has(opcode));
}

/** True for a transaction that refuses jettons: what the wallet before it did is undone, or in vain. */
export function refusesJettons({ aborted, inMessage }: EventTransaction): boolean {
  return aborted && inMessage !== null && inMessage.opcode !== null && passingOpcodes.has(inMessage.opcode);
}

/** Rows of a transaction: at most one. */
export type TransferRows = {
  readonly jettonTransfer?: JettonTransferRow;
  readonly jettonBurn?: JettonBurnRow;
  readonly nftTransfer?: NftTransferRow;
};

/** A transaction and what its account was after it. */
export type AskedContract = {
  readonly stored: StoredTransaction;
  readonly event: EventTransaction;
  readonly jettonWallet?: JettonWalletRow | undefined;
  readonly nftItem?: NftItemRow | undefined;
  /** True when the next contract refused the jettons. */
  readonly returned: boolean;
};

/** True for a transaction that may be a transfer or a burn. */
export function mayTransfer({ inMessage }: EventTransaction): boolean {
  return inMessage !== null && inMessage.source !== null && inMessage.opcode !== null && opcodes.has(inMessage.opcode);
}

/**
 * Transfer or burn that a transaction requested of a confirmed wallet or item (TEP-74, TEP-62; service/indexer/README.md#transfers).
 * Failed requests are included. Payloads in place count as payloads in references (service/v3/README.md#differences-from-ton-center).
 * Data after the last field are ignored. A body that does not parse gives no rows.
 */
export function transferOf({ stored, event, jettonWallet, nftItem, returned }: AskedContract): TransferRows {
  const { inMessage: message } = event;
  const source = keyOf(message?.source ?? null);
  if (message === null || source === null) return {};
  const common = {
    tx_hash: stored.hash,
    tx_lt: stored.lt,
    tx_utime: event.utime | 0,
    tx_aborted: event.aborted,
    mc_seqno: stored.mc_seqno,
  };
  const read = <T>(fields: (slice: ContractSlice) => T): T | undefined =>
    tryRead(() => {
      const slice = openBody(message);
      slice.skip(32);
      return fields(slice);
    });
  const { jettonTransfer, jettonBurn, nftTransfer } = TRANSFER_OPCODES;
  if (message.opcode === jettonTransfer && jettonWallet !== undefined) {
    const fields = read(readJettonTransfer);
    const wallet = { jetton_wallet: jettonWallet.address, jetton_master: jettonWallet.jetton };
    return fields === undefined ? {} : { jettonTransfer: { ...common, source, ...wallet, ...fields, returned } };
  }
  if (message.opcode === jettonBurn && jettonWallet !== undefined) {
    const fields = read(readJettonBurn);
    const wallet = { jetton_wallet: jettonWallet.address, jetton_master: jettonWallet.jetton };
    return fields === undefined ? {} : { jettonBurn: { ...common, owner: source, ...wallet, ...fields, returned } };
  }
  if (message.opcode === nftTransfer && nftItem !== undefined) {
    const fields = read(readNftTransfer);
    const item = { nft_item: nftItem.address, nft_index: nftItem.index, nft_collection: nftItem.collection };
    return fields === undefined ? {} : { nftTransfer: { ...common, old_owner: source, ...item, ...fields } };
  }
  return {};
}

/**
 * `transfer#0f8a7ea5 query_id:uint64 amount:(VarUInteger 16) destination:MsgAddress response_destination:MsgAddress
 * custom_payload:(Maybe ^Cell) forward_ton_amount:(VarUInteger 16) forward_payload:(Either Cell ^Cell)` (TEP-74).
 */
function readJettonTransfer(slice: ContractSlice) {
  return {
    query_id: uint64(slice),
    amount: coins(slice),
    destination: keyOf(maybeAddress(slice)),
    response_destination: address(slice),
    custom_payload: readMaybeCell(slice),
    forward_ton_amount: coins(slice),
    forward_payload: readPayload(slice),
  };
}

/** `burn#595f07bc query_id:uint64 amount:(VarUInteger 16) response_destination:MsgAddress custom_payload:(Maybe ^Cell)` (TEP-74). */
function readJettonBurn(slice: ContractSlice) {
  return {
    query_id: uint64(slice),
    amount: coins(slice),
    response_destination: address(slice),
    // Wallets take a burn without it.
    custom_payload: slice.remainingBits === 0 ? null : readMaybeCell(slice),
  };
}

/**
 * `transfer#5fcc3d14 query_id:uint64 new_owner:MsgAddress response_destination:MsgAddress custom_payload:(Maybe ^Cell)
 * forward_amount:(VarUInteger 16) forward_payload:(Either Cell ^Cell)` (TEP-62).
 */
function readNftTransfer(slice: ContractSlice) {
  return {
    query_id: uint64(slice),
    new_owner: keyOf(maybeAddress(slice)),
    response_destination: address(slice),
    custom_payload: readMaybeCell(slice),
    forward_amount: coins(slice),
    forward_payload: readPayload(slice),
  };
}

function readMaybeCell(slice: ContractSlice): Buffer | null {
  return slice.bit() ? bagOf(slice.table, slice.ref()) : null;
}

/** Reads a payload in a reference or in place; null when there is none. */
function readPayload(slice: ContractSlice): Buffer | null {
  if (slice.remainingBits === 0) return null;
  if (slice.bit()) return bagOf(slice.table, slice.ref());
  if (slice.remainingBits === 0 && slice.remainingRefs === 0) return null;
  const store = createCellStore();
  const refs: number[] = [];
  while (slice.remainingRefs > 0) refs.push(store.import(slice.table, slice.ref()));
  const bitLength = slice.remainingBits;
  return bagOf(store, store.add({ data: slice.bits(bitLength), bitLength, refs }));
}

function bagOf(table: CellTable, cell: number): Buffer {
  return writeBoc(table, [cell], { crc32c: true });
}

/** Key of an account's raw text; null for every other address. */
function keyOf(text: EventMessage['source']): Buffer | null {
  const account = text === null ? undefined : parseAddress(text);
  return account === undefined ? null : accountKey(account);
}
