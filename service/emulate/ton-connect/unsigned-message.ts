import { invalid } from '#service/contract/errors.ts';
import { BitWriter } from '#service/decode/bit-writer.ts';
import { createCellStore, type CellStore } from '#service/decode/cell-store.ts';
import { writeBag } from '#service/decode/contract-data.ts';
import { DecodeError } from '#service/decode/errors.ts';
import type { WalletOrder } from '#service/decode/known-codes.ts';
import { writeStandardAddress } from '#service/decode/tlb/message-address.ts';
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

/** `external_signed#7369676e`: an external message to a wallet v5. */
const EXTERNAL_SIGNED = 0x7369676e;

/** `action_send_msg#0ec3c86d`. */
const SEND_MESSAGE = 0x0ec3c86d;

/** Numbers and messages of an order. Messages are cells of the store that the order goes to. */
type Order = Pick<SigningWallet, 'seqno' | 'walletId'> & {
  readonly validUntil: number;
  readonly messages: readonly number[];
};

/** Writes the order of a wallet as the rest of a cell. */
type OrderWriter = (writer: BitWriter, order: Order, store: CellStore) => BitWriter;

const ORDERS: Readonly<Record<WalletOrder, OrderWriter>> = {
  v1: (writer, { seqno, messages }) => writeSends(writer.bytes(SIGNATURE).uint(seqno, 32), messages),
  v2: (writer, { seqno, validUntil, messages }) =>
    writeSends(writer.bytes(SIGNATURE).uint(seqno, 32).uint(validUntil, 32), messages),
  v3: (writer, order) => writeSends(writeNumbers(writer.bytes(SIGNATURE), order), order.messages),
  /** The eight zeros are the operation: a plain transfer. */
  v4: (writer, order) => writeSends(writeNumbers(writer.bytes(SIGNATURE), order).uint(0, 8), order.messages),
  /** The zero bit says that no extended action follows. */
  v5: (writer, order, store) =>
    writeNumbers(writer.uint(EXTERNAL_SIGNED, 32), order)
      .maybeRef(storeActions(store, order.messages))
      .bit(false)
      .bytes(SIGNATURE),
};

/** `wallet_id:int32 valid_until:uint32 seqno:uint32`. */
function writeNumbers(writer: BitWriter, { walletId, validUntil, seqno }: Order): BitWriter {
  return writer.int(walletId, 32).uint(validUntil, 32).uint(seqno, 32);
}

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
    const root = ORDERS[order](writer, { seqno, walletId, validUntil, messages: sent }, store).finish(store);
    await timeSlice.pause();
    return writeBag({ table: store, cell: root });
  } catch (error) {
    if (error instanceof DecodeError) throw invalid(`messages make no external message: ${error.message}`, 'messages');
    throw error;
  }
}
