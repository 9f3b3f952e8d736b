import type { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';

/** A body that its first 32 bits do not name, or do not name enough: which type it may be, and with what counts. */
export type WalletBody = { readonly type: string; readonly args: readonly number[] };

/** Bits of an Ed25519 signature, which such bodies begin with. */
const SIGNATURE_BITS = 512;

/** Operations whose lists of actions are counted before the body is read (v3 sheet 13). */
const W5_OPERATIONS: ReadonlySet<number> = new Set([0x73696e74, 0x7369676e, 0x6578746e]);
const W5_EXTENSION = 0x6578746e;
const HIGHLOAD_V3_INTERNAL = 0xae42e5a4;

/** Longest list counted: a contract's own output has at most 255 actions. */
const ACTIONS_MAX = 255;

/** The body of a wallet v5, or a highload v3's message to itself, by its operation. */
export function countedBody(body: CellSlice, opcode: number): WalletBody | undefined {
  if (opcode === HIGHLOAD_V3_INTERNAL) {
    const list = body.remainingRefs > 0 ? body.clone().ref() : undefined;
    return { type: 'HighloadV3InternalRequest', args: [list === undefined ? 0 : countOutList(body.table, list)] };
  }
  return W5_OPERATIONS.has(opcode) ? countW5(body, opcode) : undefined;
}

/** `out_actions:(Maybe ^(OutList m)) extended_actions:(Maybe (W5ExtendedActionList n))` behind the request's own numbers. */
function countW5(body: CellSlice, opcode: number): WalletBody | undefined {
  const head = 32 + (opcode === W5_EXTENSION ? 64 : 96);
  if (body.remainingBits < head + 1) return undefined;
  const slice = body.clone();
  slice.skip(head);
  let out = 0;
  if (slice.bit()) {
    if (slice.remainingRefs === 0) return undefined;
    out = countOutList(slice.table, slice.ref());
  }
  const next = slice.remainingRefs > 0 ? slice.ref() : undefined;
  return { type: 'W5MsgBody', args: [out, next === undefined ? 0 : countChain(slice.table, next, 0) + 1] };
}

/** Actions of a list: each holds the one before it in its first reference; the end is an empty cell. */
function countOutList(table: CellTable, list: number): number {
  return countChain(table, list, 0);
}

/** Steps along first references until a cell without any. */
function countChain(table: CellTable, start: number, from: number): number {
  let count = from;
  for (let cell = start; count < ACTIONS_MAX && table.refCount(cell) > 0; cell = table.ref(cell, 0)) count++;
  return count;
}

/**
 * The types that a signed body without an operation may be of, in the order they are tried (v3 sheet 13). Only those whose
 * size fits are listed.
 */
export function unnamedBodies(body: CellSlice): WalletBody[] {
  const { remainingBits: bits, remainingRefs: refs, table } = body;
  if (bits < SIGNATURE_BITS) return [];
  const after = bits - SIGNATURE_BITS;
  const found: WalletBody[] = [];
  if (after === 0 && refs === 1) {
    const inner = body.clone().ref();
    const list = table.kind(inner) === 'ordinary' && table.refCount(inner) > 0 ? table.ref(inner, 0) : undefined;
    found.push({ type: 'PreprocessedWalletV2MsgBody', args: [list === undefined ? 0 : countOutList(table, list)] });
    found.push({ type: 'HighloadV3MsgBody', args: [] });
  }
  // Signature, subwallet, query id, a dictionary's bit.
  if (after === 97 && refs <= 1) found.push({ type: 'HighloadV2MsgBody', args: [] });
  if (after === 96 && refs === 1) found.push({ type: 'HighloadV1MsgBody', args: [] });
  if (after >= 104) found.push({ type: 'W4MsgBody', args: [refs] });
  if (after === 96 + 8 * refs) found.push({ type: 'W3MsgBody', args: [refs] });
  if (after === 64 + 8 * refs) found.push({ type: 'W1W2MsgBody', args: [refs] });
  return found;
}
