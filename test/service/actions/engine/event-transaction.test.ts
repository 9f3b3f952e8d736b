import {
  beginCell,
  Cell,
  type Dictionary,
  loadTransaction,
  storeStateInit,
  type Message,
  type Transaction,
} from '@ton/core';
import { beforeAll, describe, expect, it } from 'vitest';

import { eventTransaction } from '#service/actions/engine/event-transaction.ts';
import type { EventMessage, EventTransaction } from '#service/actions/engine/classifier-input.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { parseBoc } from '#service/decode/boc.ts';
import type { CellSlice } from '#service/decode/cell-slice.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import { recordedRows } from '#test/support/recorded-index.ts';

type Pair = { readonly ours: EventTransaction; readonly boc: Uint8Array };

function open(boc: Uint8Array, workchain: number, mcSeqno: number): EventTransaction {
  const table = parseBoc(Buffer.from(boc));
  return eventTransaction({ table, transaction: readTransaction(table, table.roots[0]!), workchain, mcSeqno });
}

const raw = (address: { toRawString(): string } | null | undefined): string | null =>
  address === null || address === undefined ? null : address.toRawString().toUpperCase();

/** A slice's rest as a cell of its own. */
function cellOf(slice: CellSlice | undefined): string | undefined {
  if (slice === undefined) return undefined;
  const rest = slice.clone();
  const builder = beginCell();
  while (rest.remainingBits > 0) builder.storeBit(rest.bit());
  while (rest.remainingRefs > 0) builder.storeRef(Cell.fromBoc(writeBoc(rest.table, [rest.ref()]))[0]!);
  return builder.endCell().hash().toString('base64');
}

const currencies = (other: Dictionary<number, bigint> | null | undefined): Record<string, string> =>
  Object.fromEntries([...(other ?? [])].map(([id, amount]) => [String(id), String(amount)]));

/** A message as another library reads it. */
function theirMessage({ info, body, init }: Message): Omit<EventMessage, 'hash' | 'body' | 'init'> & Texts {
  const slice = body.isExotic ? undefined : body.beginParse();
  return {
    source: info.type === 'external-in' ? null : raw(info.src),
    destination: info.type === 'external-out' ? null : raw(info.dest),
    value: info.type === 'internal' ? info.value.coins : null,
    extraCurrencies: info.type === 'internal' ? currencies(info.value.other) : null,
    createdLt: info.type === 'external-in' ? null : info.createdLt,
    createdAt: info.type === 'external-in' ? null : info.createdAt,
    opcode: slice === undefined || slice.remainingBits < 32 ? null : slice.loadUint(32),
    bounce: info.type === 'internal' && info.bounce,
    body: body.isExotic ? undefined : body.hash().toString('base64'),
    init: init ? beginCell().store(storeStateInit(init)).endCell().hash().toString('base64') : undefined,
  };
}

type Texts = { readonly body: string | undefined; readonly init: string | undefined };

function ourMessage(message: EventMessage): ReturnType<typeof theirMessage> {
  const { hash: hashOfCell, body, init, ...rest } = message;
  expect(hashOfCell).toHaveLength(44);
  return { ...rest, body: cellOf(body), init: cellOf(init) };
}

const kinds: Readonly<Record<string, string>> = { generic: 'ord', storage: 'storage', 'tick-tock': 'tick_tock' };
const statuses: Readonly<Record<string, string>> = { uninitialized: 'uninit', 'non-existing': 'nonexist' };
const skips: Readonly<Record<string, string>> = {
  'no-state': 'no_state',
  'bad-state': 'bad_state',
  'no-gas': 'no_gas',
};

function theirFacts(read: Transaction) {
  const { description } = read;
  const compute = 'computePhase' in description ? description.computePhase : undefined;
  return {
    lt: read.lt,
    utime: read.now,
    kind: kinds[description.type],
    aborted: 'aborted' in description && description.aborted,
    originalStatus: statuses[read.oldStatus] ?? read.oldStatus,
    endStatus: statuses[read.endStatus] ?? read.endStatus,
    skippedReason: compute?.type === 'skipped' ? skips[compute.reason] : null,
    exitCode: compute?.type === 'vm' ? compute.exitCode : null,
    inMessage: read.inMessage ? theirMessage(read.inMessage) : null,
    outMessages: read.outMessages.values().map(theirMessage),
  };
}

describe('a transaction for classification', () => {
  const pairs: Pair[] = [];

  beforeAll(async () => {
    for (const { transactions } of await recordedRows()) {
      for (const { boc, workchain, mc_seqno: mcSeqno } of transactions) {
        pairs.push({ ours: open(boc, workchain, mcSeqno), boc });
      }
    }
  });

  it('says what another library reads of each one of the recorded chain', () => {
    const seen = new Set<string>();
    for (const { ours, boc } of pairs) {
      const [cell] = Cell.fromBoc(Buffer.from(boc));
      const { hash, account, mcSeqno: _, inMessage, outMessages, ...facts } = ours;
      const read = loadTransaction(cell!.beginParse());
      expect({
        ...facts,
        inMessage: inMessage && ourMessage(inMessage),
        outMessages: outMessages.map(ourMessage),
      }).toEqual(theirFacts(read));
      expect(hash).toBe(cell!.hash().toString('base64'));
      expect(account.split(':')[1]).toBe(read.address.toString(16).toUpperCase().padStart(64, '0'));
      for (const shown of [facts.kind, facts.endStatus, String(facts.skippedReason)]) seen.add(shown);
    }
    expect([...seen]).toEqual(expect.arrayContaining(['ord', 'tick_tock', 'active', 'uninit', 'nonexist', 'no_state']));
  });

  it('has the same message at both of its ends', () => {
    const sent = new Map(pairs.flatMap(({ ours }) => ours.outMessages).map((message) => [message.hash, message]));
    let met = 0;
    for (const { ours } of pairs) {
      const { inMessage } = ours;
      // What the masterchain sends of itself has one end.
      if (inMessage === null || inMessage.source === null || /^-1:0+$/.test(inMessage.source)) continue;
      met += 1;
      expect(ourMessage(inMessage)).toEqual(ourMessage(sent.get(inMessage.hash)!));
    }
    expect(met).toBeGreaterThan(1000);
  });

  it('has no body and no state where the message has an exotic cell', () => {
    const library = beginCell().storeUint(2, 8).storeBuffer(Buffer.alloc(32, 7)).endCell({ exotic: true });
    const message = beginCell()
      .storeUint(0b10_00, 4)
      .storeUint(0b100, 3)
      .storeInt(0, 8)
      .storeUint(5, 256)
      .storeCoins(0)
      .storeUint(0b11, 2)
      .storeRef(library)
      .storeBit(true)
      .storeRef(library)
      .endCell();
    const [cell] = Cell.fromBoc(Buffer.from(pairs.find(({ ours }) => ours.kind === 'ord')!.boc));
    const slice = cell!.beginParse();
    slice.loadRef();
    const bits = cell!.bits;
    const messages = beginCell().storeBit(true).storeRef(message).storeBit(false).endCell();
    const refs = [messages, ...cell!.refs.slice(1)];
    const built = beginCell()
      .storeBits(bits.substring(0, 4 + 256 + 64 + 256 + 64 + 32))
      .storeUint(0, 15);
    built.storeBits(
      bits.substring(4 + 256 + 64 + 256 + 64 + 32 + 15, bits.length - (4 + 256 + 64 + 256 + 64 + 32 + 15)),
    );
    for (const ref of refs) built.storeRef(ref);
    const { inMessage } = open(built.endCell().toBoc(), 0, 1);
    expect(inMessage).toMatchObject({ body: undefined, init: undefined, opcode: null });
  });
});
