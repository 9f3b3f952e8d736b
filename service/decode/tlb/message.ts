import type { CellDigest } from '../cell-digest.ts';
import { digestCell, digestRest } from '../cell-digest.ts';
import { CellSlice } from '../cell-slice.ts';
import type { CellStore } from '../cell-store.ts';
import type { CellTable } from '../cell-table.ts';
import { DecodeError } from '../errors.ts';
import { readCurrencyCollection } from './currency-collection.ts';
import type { CurrencyCollection } from './currency-collection.ts';
import { readInternalAddress, readMessageAddress } from './message-address.ts';
import type { ExternalAddress, InternalAddress, MessageAddress } from './message-address.ts';
import { readStateInit } from './state-init.ts';
import type { StateInit } from './state-init.ts';

/** A message between accounts, or from or to the outside. */
export type Message = {
  /** Cell of the message; its hash identifies the message. */
  readonly cell: number;
  readonly info: MessageInfo;
  readonly init: MessageInit | undefined;
  readonly body: MessageBody;
};

export type MessageInfo = InternalInfo | ExternalInInfo | ExternalOutInfo;

/** Message from an account to an account. */
export type InternalInfo = {
  readonly kind: 'internal';
  readonly ihrDisabled: boolean;
  readonly bounce: boolean;
  readonly bounced: boolean;
  /** Source; undefined (`addr_none`) in messages that a contract is composing. */
  readonly source: InternalAddress | undefined;
  readonly destination: InternalAddress;
  readonly value: CurrencyCollection;
  /** `ihr_fee` in nanotons before version 12. From then on flags of the message, in the same bits. */
  readonly extraFlags: bigint;
  readonly forwardFee: bigint;
  readonly createdLt: bigint;
  readonly createdAt: number;
};

/** Message from outside to an account. */
export type ExternalInInfo = {
  readonly kind: 'externalIn';
  readonly source: ExternalAddress | undefined;
  readonly destination: InternalAddress;
  readonly importFee: bigint;
};

/** Message from an account to outside: a log. */
export type ExternalOutInfo = {
  readonly kind: 'externalOut';
  readonly source: InternalAddress | undefined;
  readonly destination: ExternalAddress | undefined;
  readonly createdLt: bigint;
  readonly createdAt: number;
};

/** State to deploy: in a cell of its own, which may be exotic, or inside the message's. */
export type MessageInit =
  | { readonly cell: number; readonly state: StateInit | undefined }
  | { readonly cell: undefined; readonly state: StateInit };

/** Position of the body: all of `cell`, or the part of the message's own cell after `skipBits` and `skipRefs`. See `openBody`, `storeBody`. */
export type MessageBody = { readonly cell: number; readonly skipBits: number; readonly skipRefs: number };

/**
 * `message$_ {X:Type} info:CommonMsgInfo init:(Maybe (Either StateInit ^StateInit)) body:(Either X ^X) = Message X`.
 * Throws DecodeError.
 */
export function readMessage(table: CellTable, cell: number): Message {
  const slice = new CellSlice(table, cell);
  return { cell, info: readInfo(slice), init: readInit(slice), body: readBody(slice) };
}

/**
 * `int_msg_info$0 ihr_disabled:Bool bounce:Bool bounced:Bool src:MsgAddressInt dest:MsgAddressInt value:CurrencyCollection
 * extra_flags:(VarUInteger 16) fwd_fee:Grams created_lt:uint64 created_at:uint32`;
 * `ext_in_msg_info$10 src:MsgAddressExt dest:MsgAddressInt import_fee:Grams`;
 * `ext_out_msg_info$11 src:MsgAddressInt dest:MsgAddressExt created_lt:uint64 created_at:uint32`.
 * The relaxed forms, whose source may be absent, are read too.
 */
function readInfo(slice: CellSlice): MessageInfo {
  if (!slice.bit()) {
    return {
      kind: 'internal',
      ihrDisabled: slice.bit(),
      bounce: slice.bit(),
      bounced: slice.bit(),
      source: expectInternal(slice, readMessageAddress(slice)),
      destination: readInternalAddress(slice),
      value: readCurrencyCollection(slice),
      extraFlags: slice.coins(),
      forwardFee: slice.coins(),
      createdLt: slice.uint64(),
      createdAt: slice.uint(32),
    };
  }
  if (!slice.bit()) {
    return {
      kind: 'externalIn',
      source: expectExternal(slice, readMessageAddress(slice)),
      destination: readInternalAddress(slice),
      importFee: slice.coins(),
    };
  }
  return {
    kind: 'externalOut',
    source: expectInternal(slice, readMessageAddress(slice)),
    destination: expectExternal(slice, readMessageAddress(slice)),
    createdLt: slice.uint64(),
    createdAt: slice.uint(32),
  };
}

function expectInternal(slice: CellSlice, address: MessageAddress | undefined): InternalAddress | undefined {
  if (address === undefined || address.kind === 'internal') return address;
  throw new DecodeError('bad_tag', 'The address is no account.', { cell: slice.cell, type: 'MsgAddressInt' });
}

function expectExternal(slice: CellSlice, address: MessageAddress | undefined): ExternalAddress | undefined {
  if (address === undefined || address.kind === 'external') return address;
  throw new DecodeError('bad_tag', 'The address is not outside.', { cell: slice.cell, type: 'MsgAddressExt' });
}

function readInit(slice: CellSlice): MessageInit | undefined {
  if (!slice.bit()) return undefined;
  if (!slice.bit()) return { cell: undefined, state: readStateInit(slice) };
  const cell = slice.ref();
  const isOrdinary = slice.table.kind(cell) === 'ordinary';
  return { cell, state: isOrdinary ? readStateInit(new CellSlice(slice.table, cell)) : undefined };
}

function readBody(slice: CellSlice): MessageBody {
  if (slice.bit()) return { cell: slice.ref(), skipBits: 0, skipRefs: 0 };
  return {
    cell: slice.cell,
    skipBits: slice.position,
    skipRefs: slice.table.refCount(slice.cell) - slice.remainingRefs,
  };
}

/** Returns a reader at the body's first bit. Throws DecodeError `exotic_cell` when the body is a library or Merkle cell. */
export function openBody(table: CellTable, body: MessageBody): CellSlice {
  const slice = new CellSlice(table, body.cell);
  slice.skip(body.skipBits);
  for (let count = 0; count < body.skipRefs; count++) slice.ref();
  return slice;
}

/** Returns hash and depth of the body as a cell of its own, whichever way the message stores it. Throws DecodeError `pruned_branch`. */
export function digestBody(table: CellTable, body: MessageBody): CellDigest {
  if (body.skipBits === 0 && body.skipRefs === 0) return digestCell(table, body.cell);
  return digestRest(openBody(table, body));
}

/** Returns the first 32 bits of the body, by custom the operation; undefined when it has fewer or is exotic. */
export function readOpcode(table: CellTable, body: MessageBody): number | undefined {
  if (table.kind(body.cell) !== 'ordinary') return undefined;
  const slice = openBody(table, body);
  return slice.remainingBits < 32 ? undefined : slice.uint(32);
}

/** Puts the body into the store as a cell of its own, whichever way the message stores it. Returns its index there. */
export function storeBody(store: CellStore, table: CellTable, body: MessageBody): number {
  if (body.skipBits === 0 && body.skipRefs === 0) return store.import(table, body.cell);
  const slice = openBody(table, body);
  const refs: number[] = [];
  while (slice.remainingRefs > 0) refs.push(store.import(table, slice.ref()));
  const bitLength = slice.remainingBits;
  return store.add({ data: slice.bits(bitLength), bitLength, refs });
}
