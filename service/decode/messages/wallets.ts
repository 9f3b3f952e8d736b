import type { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';

/** Body whose first 32 bits do not name it sufficiently: its possible type, and the counts as arguments. */
export type WalletBody = { readonly type: string; readonly args: readonly number[] };

/** Bits of an Ed25519 signature, with which such bodies begin. */
const SIGNATURE_BITS = 512;

/** Operations whose lists of actions are counted before the body is read (service/v3/README.md#decoding). */
const W5_OPERATIONS: ReadonlySet<number> = new Set([0x73696e74, 0x7369676e, 0x6578746e]);
const W5_EXTENSION = 0x6578746e;
const HIGHLOAD_V3_INTERNAL = 0xae42e5a4;

/** Most counted actions; a contract's own output has at most 255. */
const ACTIONS_MAX = 255;

/** Returns the type of a body by its operation: of a wallet v5, or of a highload v3's message to itself. */
export function bodyWithCounts(body: CellSlice, opcode: number): WalletBody | undefined {
  if (opcode === HIGHLOAD_V3_INTERNAL) {
    const list = body.remainingRefs > 0 ? body.clone().ref() : undefined;
    return { type: 'HighloadV3InternalRequest', args: [list === undefined ? 0 : countOutList(body.table, list)] };
  }
  return W5_OPERATIONS.has(opcode) ? countW5(body, opcode) : undefined;
}

/** Counts `out_actions:(Maybe ^(OutList m)) extended_actions:(Maybe (W5ExtendedActionList n))` after the request's own numbers. */
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

/** Counts actions of a list. Each has the previous one in its first reference; the end is an empty cell. */
function countOutList(table: CellTable, list: number): number {
  return countChain(table, list, 0);
}

/** Counts steps along first references until a cell without references. */
function countChain(table: CellTable, start: number, from: number): number {
  let count = from;
  for (let cell = start; count < ACTIONS_MAX && table.refCount(cell) > 0; cell = table.ref(cell, 0)) count++;
  return count;
}

/**
 * Returns the possible types of a signed body without an operation, in the order of trial (service/v3/README.md#decoding). Only types of a fitting
 * size are listed.
 */
export function candidateBodies(body: CellSlice): WalletBody[] {
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
