import type { CellSlice } from '../decode/cell-slice.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { addressText } from '../decode/messages/addresses.ts';
import { listExtraCurrencies } from '../decode/tlb/currency-collection.ts';
import { openBody, readMessage, readOpcode } from '../decode/tlb/message.ts';
import { basicBlock } from './basic-blocks.ts';
import type { Block } from './block.ts';
import { tryRead } from './body.ts';
import type { EventMessage, EventTrace, EventTransaction } from './event.ts';
import { jettonTransferOfOrder } from './jettons.ts';
import type { Interfaces } from './interfaces.ts';
import { ghostActionOf, noColumns, type Action } from './rows.ts';

/**
 * What a wallet was asked for by a message from outside that came to nothing: its orders as failed actions (indexing sheet 9.7), or one `unknown` action
 * named like the trace when the message is no wallet's.
 */
export function ghostActions(trace: EventTrace, root: EventTransaction, interfaces: Interfaces): Action[] {
  const { inMessage } = root;
  const ordered = (inMessage?.body && tryRead(() => readOrders(inMessage.body!.clone()))) ?? [];
  const actions = ordered.flatMap((order) => {
    const message = tryRead(() => readOrdered(order, root));
    if (message === undefined) return [];
    const node = { message, transaction: root, parent: undefined, children: [] };
    const transfer = tryRead(() => jettonTransferOfOrder(message, interfaces));
    const block: Block = basicBlock({ ...node, transaction: { ...root, originalStatus: root.endStatus } });
    return [ghostActionOf(trace, block, root, transfer)];
  });
  return actions.length > 0 ? actions : [unknownAction(trace, root)];
}

/** A trace of which nothing can be told but that it is there. */
export function unknownAction(trace: EventTrace, root: EventTransaction): Action {
  return {
    ...noColumns,
    traceId: trace.traceId,
    actionId: trace.traceId,
    type: 'unknown',
    transactions: [root.hash],
    accounts: [root.account],
    startLt: root.lt,
    endLt: root.lt,
    startUtime: root.utime,
    endUtime: root.utime,
    mcSeqnoEnd: root.mcSeqno,
    success: true,
    parentActionId: null,
    ancestorTypes: [],
  };
}

const SIGNED_EXTERNAL = 0x7369676e;
const SIGNATURE_BITS = 512;
const SEND_MESSAGE = 0x0ec3c86d;

/** Orders of one wallet 5 message: the VM allows no more. */
const ORDERS_MAX = 255;

/** Message cells of a wallet's body, of version 3, 4 or 5. Throws DecodeError for other bodies. */
function readOrders(body: CellSlice): readonly CellSlice[] {
  if (body.remainingBits >= 32 && body.clone().uint(32) === SIGNED_EXTERNAL) return readWallet5Orders(body);
  body.skip(SIGNATURE_BITS);
  // Subwallet, time and seqno; version 4 has an operation of 8 bits more; then a mode of 8 bits for each message.
  body.skip(3 * 32);
  const extraBits = body.remainingBits - 8 * body.remainingRefs;
  if (extraBits !== 0 && extraBits !== 8) return [];
  if (extraBits === 8 && body.uint(8) !== 0) return [];
  return Array.from({ length: body.remainingRefs }, () => body.refSlice());
}

/** `OutList`: the last action first, those before it in its first reference. */
function readWallet5Orders(body: CellSlice): readonly CellSlice[] {
  body.skip(4 * 32);
  const orders: CellSlice[] = [];
  let list = body.bit() ? body.refSlice() : undefined;
  while (list !== undefined && list.remainingRefs > 0 && orders.length < ORDERS_MAX) {
    const before = list.refSlice();
    if (list.uint(32) === SEND_MESSAGE) {
      list.skip(8);
      orders.push(list.refSlice());
    }
    list = before;
  }
  return orders.toReversed();
}

/** Amounts by currency id. */
function extraCurrencies(table: CellTable, root: number | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(listExtraCurrencies(table, root).map(({ id, amount }) => [id, amount.toString()]));
}

/** A message that was to be sent by the account of the transaction. Throws DecodeError. */
function readOrdered({ table, cell }: CellSlice, { account, lt, utime }: EventTransaction): EventMessage {
  const { info, body } = readMessage(table, cell);
  const isInner = info.kind === 'internal';
  return {
    hash: table.hash(cell).toString('base64'),
    source: account,
    destination: info.destination === undefined ? null : addressText(info.destination),
    value: isInner ? info.value.grams : null,
    extraCurrencies: isInner ? extraCurrencies(table, info.value.extra) : null,
    createdLt: lt,
    createdAt: utime,
    opcode: readOpcode(table, body) ?? null,
    bounce: isInner && info.bounce,
    body: openBody(table, body),
    init: undefined,
  };
}
