import type { BlockId } from '#service/decode/block-id.ts';
import type { ArgsOf, getAccountState } from '#service/liteserver/functions.ts';
import { functionOf } from '#service/liteserver/function-table.ts';
import type { AccountState } from '#service/liteserver/tl/lite-api.ts';
import { refusal, serverCode } from '../chain/errors.ts';
import type { ProofFault } from './faulty-proofs.ts';
import { spoilProof } from './faulty-proofs.ts';
import { forgeBalance } from './forged-balance.ts';
import type { ChainView } from '../chain/chain-view.ts';
import { tipBlock } from '../chain/chain-view.ts';

/** Fault of a lite server's report of the newest block. */
export type TipFault =
  /** Stands still at a block. */
  | { readonly kind: 'stale'; readonly seqno: number }
  /** Number of blocks that the tip stays behind. */
  | { readonly kind: 'behind'; readonly blocks: number }
  /** Number of blocks that are missing in every second query's view. */
  | { readonly kind: 'backwards'; readonly blocks: number }
  /** Announces a block that does not exist, this many seqnos ahead. */
  | { readonly kind: 'future'; readonly blocks: number };

/**
 * Injected faults of a lite server's answers; absent = none. They are read for every query. adnl-faults.ts has the faults of the transport.
 */
export type QueryFaults = {
  /** Functions that the faults act on (`getAccountState`), all when absent. */
  readonly only?: readonly string[];
  /** Never answers: a node that is not synchronized. */
  readonly silent?: boolean;
  /** Error -503 after this time in milliseconds. A node's own deadline is 4,500 ms. */
  readonly overloadedAfterMs?: number;
  /** Error that is returned at once: a gateway's 429 or 228, or any other. */
  readonly refuse?: { readonly code: number; readonly text: string };
  /** Error 651 as when the block is not there yet (with a suffix), or not any more (without). */
  readonly notReady?: 'lagging' | 'pruned';
  /** Answers every sendMessage with `duplicate message`. */
  readonly duplicate?: boolean;
  /** Answers are about another block than requested. */
  readonly wrongId?: boolean;
  /** The first Merkle proof of every answer is wrong in this way. */
  readonly proof?: ProofFault;
  /** Every account has this balance, in nanotons. Forged states of forged blocks prove it, but no validator signed those blocks. */
  readonly forgedBalance?: bigint;
  readonly tip?: TipFault;
  /** Announces another network's zerostate. */
  readonly otherZeroState?: boolean;
  /** Relative position, 0..1, of the bit that is flipped in every answer. */
  readonly alteredAt?: number;
  /** Seconds by which its clock is ahead; negative when behind. */
  readonly clockSkewSeconds?: number;
  /** Bytes of invalid data in answers of getBlock. */
  readonly blockBytes?: number;
};

/** Returns the tip that queries see. `queries` counts them. */
export function faultyTip({ tip }: QueryFaults, seqno: number, queries: number): number {
  switch (tip?.kind) {
    case 'stale':
      return Math.min(seqno, tip.seqno);
    case 'behind':
      return Math.max(1, seqno - tip.blocks);
    case 'backwards':
      return queries % 2 === 0 ? Math.max(1, seqno - tip.blocks) : seqno;
    default:
      return seqno;
  }
}

/** Refuses a query when faults say so. @throws DevchainError `query_refused` */
export function refuseByFaults(faults: QueryFaults, view: ChainView, request: Buffer): void {
  if (faults.refuse !== undefined) throw refusal(faults.refuse.code, faults.refuse.text);
  if (faults.notReady !== undefined) {
    const suffix = faults.notReady === 'lagging' ? ` (last known masterchain block: ${view.tip})` : '';
    throw refusal(serverCode.notReady, `block handle not in db${suffix}`);
  }
  if (faults.duplicate === true && functionOf(request)?.name === 'sendMessage') {
    throw refusal(serverCode.generic, 'cannot send external message : duplicate message');
  }
}

/** Returns the answer of `answer` with the faults applied. */
export function faultyAnswer(
  faults: QueryFaults,
  view: ChainView,
  request: Buffer,
  answer: (view: ChainView) => Buffer,
): Buffer {
  const fn = functionOf(request);
  if (fn === undefined || !spoils(faults)) return answer(view);
  let value = fn.decode(answer(view)) as Record<string, unknown>;
  if (faults.forgedBalance !== undefined && fn.name === 'getAccountState') {
    const { account } = fn.decodeArgs(request) as ArgsOf<typeof getAccountState>;
    value = forgeBalance(view, value as AccountState, account.id, faults.forgedBalance);
  }
  if (faults.tip?.kind === 'future') value = announceFuture(value, faults.tip.blocks);
  if (faults.otherZeroState === true) value = announceOtherNetwork(value);
  if (faults.wrongId === true) value = renameBlock(value, view);
  if (faults.proof !== undefined) value = spoilProof(value, faults.proof) as Record<string, unknown>;
  if (faults.blockBytes !== undefined && fn.name === 'getBlock')
    value = { ...value, data: Buffer.alloc(faults.blockBytes, 0xb5) };
  return alter(fn.encodeAnswer(value), faults.alteredAt);
}

/** The answer's own id stays. Without it the answer would have another kind, and no client would take it for a forgery. */
function alter(answer: Buffer, alteredAt: number | undefined): Buffer {
  if (alteredAt === undefined) return answer;
  const bit = 32 + Math.floor(alteredAt * (answer.length - 4) * 8);
  const altered = Buffer.from(answer);
  altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
  return altered;
}

function spoils({ forgedBalance, tip, otherZeroState, wrongId, proof, alteredAt, blockBytes }: QueryFaults): boolean {
  return (
    alteredAt !== undefined ||
    forgedBalance !== undefined ||
    tip?.kind === 'future' ||
    otherZeroState === true ||
    wrongId === true ||
    proof !== undefined ||
    blockBytes !== undefined
  );
}

/** `last` becomes a block of the far future with made-up hashes. */
function announceFuture(value: Record<string, unknown>, blocks: number): Record<string, unknown> {
  const last = value['last'] as BlockId | undefined;
  if (last === undefined) return value;
  const rootHash = Buffer.alloc(32, 0x5a);
  return { ...value, last: { ...last, seqno: last.seqno + blocks, rootHash, fileHash: Buffer.alloc(32, 0xa5) } };
}

function announceOtherNetwork(value: Record<string, unknown>): Record<string, unknown> {
  const init = value['init'] as { rootHash: Buffer } | undefined;
  return init === undefined ? value : { ...value, init: { ...init, rootHash: Buffer.alloc(32, 0x77) } };
}

/** Replaces the answer's block by the tip's predecessor, or by the tip when it was the predecessor. */
function renameBlock(value: Record<string, unknown>, view: ChainView): Record<string, unknown> {
  const id = value['id'] as BlockId | undefined;
  if (id === undefined) return value;
  const tip = tipBlock(view);
  const other = id.rootHash.equals(tip.previous[0]!.rootHash) ? tip.id : tip.previous[0]!;
  return { ...value, id: other };
}
