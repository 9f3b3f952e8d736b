import type { ContractSlice } from '../decode/cell-slice.ts';
import { addressText } from '../decode/messages/addresses.ts';
import { listExtraCurrencies } from '../decode/tlb/currency-collection.ts';
import { openBody, readMessage, readOpcode } from '../decode/tlb/message.ts';
import { basicBlock } from './engine/basic-blocks.ts';
import type { TraceFragment } from './engine/trace-fragment.ts';
import { openBody as openOrder, tryRead } from './engine/body.ts';
import type { EventMessage, ClassifierTrace, EventTransaction } from './engine/classifier-input.ts';
import { jettonTransferOfOrder } from './operations/jettons.ts';
import type { Interfaces } from './engine/interfaces.ts';
import { rejectedActionOf, noColumns, type Action } from './engine/action-rows.ts';

/**
 * Failed requests of a message from outside: the orders of its body as actions, as if each was aborted (service/actions/README.md#outcomes).
 * The code of the account is not looked at. A body without orders gives a single `unknown` action.
 */
export function actionsOfRejectedOrder(
  trace: ClassifierTrace,
  root: EventTransaction,
  interfaces: Interfaces,
): Action[] {
  const actions = orderedBy(root).map((message) => {
    const node = { message, transaction: root, parent: undefined, children: [] };
    const transfer = tryRead(() => jettonTransferOfOrder(message, interfaces));
    const transaction = { ...root, originalStatus: root.endStatus, aborted: true };
    const block: TraceFragment = basicBlock({ ...node, transaction });
    return rejectedActionOf(trace, block, root, transfer);
  });
  return actions.length > 0 ? actions : [unknownAction(trace)];
}

/** Action for a trace without a known meaning. It has the name of the trace. */
export function unknownAction({ traceId, transactions, endLt, endUtime, mcSeqnoEnd }: ClassifierTrace): Action {
  const [root] = transactions;
  return {
    ...noColumns,
    traceId,
    actionId: traceId,
    type: 'unknown',
    transactions: transactions.map(({ hash }) => hash),
    accounts: [...new Set(transactions.map(({ account }) => account))],
    startLt: root?.lt ?? endLt,
    endLt,
    startUtime: root?.utime ?? endUtime,
    endUtime,
    mcSeqnoEnd,
    success: transactions.every(({ aborted }) => !aborted),
    parentActionId: null,
    ancestorTypes: [],
  };
}

const SIGNATURE_BITS = 512;

/** Orders of one wallet 5 message: the VM allows no more. */
const ORDERS_MAX = 255;

/** Messages that a wallet's body orders between accounts, of version 3, 4 or 5; none of other bodies. */
function orderedBy(sender: EventTransaction): readonly EventMessage[] {
  for (const read of [readReferences, readActionList]) {
    const messages = tryRead(() =>
      read(openOrder(sender.inMessage ?? { body: undefined })).map((cell, index) => readOrdered(cell, index, sender)),
    );
    if (messages !== undefined) return messages.filter((message) => message !== undefined);
  }
  return [];
}

/** Versions 3 and 4: signature, subwallet, time, seqno, in version 4 an operation; each reference is a message. Throws DecodeError. */
function readReferences(body: ContractSlice): readonly ContractSlice[] {
  body.skip(SIGNATURE_BITS + 3 * 32);
  return Array.from({ length: body.remainingRefs }, () => body.refSlice());
}

/** Version 5: an `OutList`, the last action first. The first reference has the earlier actions, the second the message. Throws DecodeError. */
function readActionList(body: ContractSlice): readonly ContractSlice[] {
  body.skip(4 * 32);
  const orders: ContractSlice[] = [];
  let list = body.bit() ? body.refSlice() : undefined;
  while (list !== undefined && list.remainingBits > 0 && orders.length < ORDERS_MAX) {
    const before = list.refSlice();
    orders.push(list.refSlice());
    list = before;
  }
  return orders;
}

/** Amounts by currency id. Throws DecodeError `too_big`. */
function extraCurrencies({ table, budget }: ContractSlice, root: number | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(listExtraCurrencies(table, root, budget).map(({ id, amount }) => [id, amount.toString()]));
}

/**
 * Message that the account of the transaction was to send; undefined when its destination is no account.
 * The message was never sent and has no hash. The hash of its cell and its position among the orders name it. Throws DecodeError.
 */
function readOrdered(
  order: ContractSlice,
  index: number,
  { account, lt, utime }: EventTransaction,
): EventMessage | undefined {
  const { table, cell, budget } = order;
  const { info, body } = readMessage(table, cell);
  if (info.kind !== 'internal') return undefined;
  return {
    hash: Buffer.from(`${table.hash(cell).toString('base64')}${index}`, 'latin1').toString('base64'),
    source: account,
    destination: addressText(info.destination),
    value: info.value.grams,
    extraCurrencies: extraCurrencies(order, info.value.extra),
    createdLt: lt,
    createdAt: utime,
    opcode: readOpcode(table, body) ?? null,
    bounce: info.bounce,
    // Orders may share one body: reading all of them costs what one message may cost.
    body: openBody(table, body).within(budget),
    init: undefined,
  };
}
