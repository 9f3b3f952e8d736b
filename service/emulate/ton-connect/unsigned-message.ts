import { invalid } from '#service/contract/errors.ts';
import { BitWriter } from '#service/decode/bit-writer.ts';
import { createCellStore, type CellStore } from '#service/decode/cell-store.ts';
import { writeBag } from '#service/decode/contract-data.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { writeStandardAddress } from '#service/decode/tlb/message-address.ts';
import { EXTERNAL_SIGNED, walletOrderLayouts, type WalletOrderPart } from '#service/decode/wallet-layouts.ts';
import { mapInSlices, type TimeSlice } from '#service/runtime/time-slice.ts';
import { SEND_MODE, storeSentMessage, type SentMessage } from './sent-message.ts';
import type { SigningWallet } from './signing-wallet.ts';

/** Request to a wallet. */
export type SigningRequest = {
  readonly messages: readonly SentMessage[];
  /** Unix seconds after which the wallet refuses the message. */
  readonly validUntil: number;
};

/** Zeros in place of the signature. */
const SIGNATURE = Buffer.alloc(64);

/** `action_send_msg#0ec3c86d`. */
const SEND_MESSAGE = 0x0ec3c86d;

/** Numbers and messages of an order. Messages are cells of the store that the order goes to. */
type Order = Pick<SigningWallet, 'seqno' | 'walletId'> & {
  readonly validUntil: number;
  readonly messages: readonly number[];
};

/** Writes a part of an order at the end of a cell. */
type PartWriter = (writer: BitWriter, order: Order, store: CellStore) => BitWriter;

const parts: Readonly<Record<WalletOrderPart, PartWriter>> = {
  signature: (writer) => writer.bytes(SIGNATURE),
  externalSigned: (writer) => writer.uint(EXTERNAL_SIGNED, 32),
  seqno: (writer, { seqno }) => writer.uint(seqno, 32),
  walletId: (writer, { walletId }) => writer.int(walletId, 32),
  validUntil: (writer, { validUntil }) => writer.uint(validUntil, 32),
  plainTransfer: (writer) => writer.uint(0, 8),
  noExtendedAction: (writer) => writer.bit(false),
  sends: (writer, { messages }) => writeSends(writer, messages),
  actions: (writer, { messages }, store) => writer.maybeRef(storeActions(store, messages)),
};

/** `mode:uint8 message:^(MessageRelaxed Any)` for each message. */
function writeSends(writer: BitWriter, messages: readonly number[]): BitWriter {
  for (const message of messages) writer.uint(SEND_MODE, 8).ref(message);
  return writer;
}

/** `out_list$_ prev:^(OutList n) action:OutAction`, from an empty cell on. */
function storeActions(store: CellStore, messages: readonly number[]): number {
  let list = new BitWriter().finish(store);
  for (const message of messages) {
    list = new BitWriter().uint(SEND_MESSAGE, 32).uint(SEND_MODE, 8).ref(list).ref(message).finish(store);
  }
  return list;
}

/**
 * Makes the external message that a wallet would sign for a request, with zeros in place of the signature
 * (service/emulate/README.md#emulatetonconnect). Returns a bag of cells.
 * Rejects with ContractError for more messages than the wallet sends at once, and for cells that no message can have.
 */
export async function unsignedMessage(
  wallet: SigningWallet,
  { messages, validUntil }: SigningRequest,
  timeSlice: TimeSlice,
): Promise<Buffer> {
  const { account, order, messagesMax, seqno, walletId } = wallet;
  if (messages.length > messagesMax) {
    throw invalid(`messages array cannot contain more than ${messagesMax} messages`, 'messages');
  }
  const store = createCellStore();
  const writer = new BitWriter();
  try {
    // `ext_in_msg_info$10 src:addr_none$00`, the destination, no import fee, no state; the body follows in the same cell.
    writeStandardAddress(writer.uint(0b10, 2).uint(0, 2), account).coins(0n).bit(false).bit(false);
    const sent = await mapInSlices(messages, (message) => storeSentMessage(store, message), timeSlice);
    const values = { seqno, walletId, validUntil, messages: sent };
    for (const part of walletOrderLayouts[order]) parts[part](writer, values, store);
    const root = writer.finish(store);
    await timeSlice.pause();
    return writeBag({ table: store, cell: root });
  } catch (error) {
    if (error instanceof DecodeError) throw invalid(`messages make no external message: ${error.message}`, 'messages');
    throw error;
  }
}
