import { createHash } from 'node:crypto';

import { MASTERCHAIN } from '#service/decode/block-id.ts';
import type { Boc } from '#service/decode/boc.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { shardContainsPrefix } from '#service/decode/shard.ts';
import { readMessage } from '#service/decode/tlb/message.ts';
import type { ShardAccount } from '#service/decode/tlb/shard-account.ts';
import { findShardAccount } from '#service/decode/tlb/shard-account.ts';
import type { ArgsOf } from '#service/liteserver/functions.ts';
import type { sendMessage } from '#service/liteserver/functions.ts';
import type { SendMsgStatus } from '#service/liteserver/tl/lite-api.ts';
import { refusal, serverCode } from '../chain/errors.ts';
import { parseClientBoc } from './client-boc.ts';
import type { ChainView } from '../chain/chain-view.ts';
import { tipBlock } from '../chain/chain-view.ts';
import { openState } from '../chain/open-as-node.ts';
import type { QueryHandlers } from './query-handlers.ts';

/** Network limits of inbound external messages (configuration parameter 43's defaults). */
const MESSAGE_BYTES_MAX = 65_535;
const MESSAGE_DEPTH_MAX = 512;

/** The node forgets which messages it had once a minute. */
const FORGET_AFTER_MS = 60_000;

/** Messages remembered within a minute. A client that sends more can send old messages again. */
const REMEMBERED_MAX = 10_000;

/** Takes messages as a node does before it tries them. */
export type MessageInbox = {
  /** @throws DevchainError `query_refused` in the node's words */
  accept(view: ChainView, args: ArgsOf<typeof sendMessage>): SendMsgStatus;
};

/** A message that passed all checks of its form. */
export type CheckedMessage = {
  readonly body: Buffer;
  readonly destination: { readonly workchain: number; readonly id: Buffer };
};

export type MessageInboxDependencies = {
  readonly nowMs: () => number;
  /**
   * Tries a message and, if its contract accepts it, stores it for the next block. Without this function no message is tried. A recording
   * continues as recorded, and an accepted message never appears in it.
   * @throws DevchainError `query_refused`
   */
  readonly take?: (view: ChainView, message: CheckedMessage) => void;
};

/** Checks the form of a message, the existence of its account, and repetitions within a minute. Then tries the message. */
export function createMessageInbox(dependencies: MessageInboxDependencies): MessageInbox {
  const seen = new Set<string>();
  let forgottenAtMs = dependencies.nowMs();
  return {
    accept(view, { body }) {
      if (dependencies.nowMs() - forgottenAtMs >= FORGET_AFTER_MS || seen.size >= REMEMBERED_MAX) {
        seen.clear();
        forgottenAtMs = dependencies.nowMs();
      }
      const hash = createHash('sha256').update(body).digest('latin1');
      if (seen.has(hash)) throw refusal(serverCode.generic, 'cannot send external message : duplicate message');
      const destination = checkMessage(view, body);
      dependencies.take?.(view, { body, destination });
      seen.add(hash);
      return { status: 1 };
    },
  };
}

/** Refuses a message as the node does. */
export function reject(text: string, code: number = serverCode.generic): never {
  throw refusal(code, `cannot apply external message to current state : ${text}`);
}

function checkMessage(view: ChainView, body: Buffer): CheckedMessage['destination'] {
  if (body.length > MESSAGE_BYTES_MAX) reject('external message too large, rejecting');
  const boc = parseClientBoc(body);
  if ('problem' in boc) return reject(boc.problem);
  if (boc.roots.length !== 1) reject('external message is not a valid bag of cells');
  const root = boc.roots[0]!;
  if (boc.depth(root) >= MESSAGE_DEPTH_MAX) reject('external message is too deep');
  const destination = readDestination(boc, root);
  checkBody(boc, root);
  const account = findAccount(view, destination.workchain, destination.id);
  if (account === undefined) reject('Failed to unpack account state');
  return destination;
}

/** The virtual machine reads a body as ordinary data. */
function checkBody(boc: Boc, root: number): void {
  let body: number;
  try {
    body = readMessage(boc, root).body.cell;
    boc.hash(root);
  } catch (error) {
    if (error instanceof DecodeError) reject('external message is not a (Message Any) according to automated checks');
    throw error;
  }
  if (boc.kind(body) !== 'ordinary') reject('the body of the external message is an exotic cell');
}

/** Returns the destination of an external message; undefined for any other message. */
export function readMessageDestination(body: Buffer): CheckedMessage['destination'] | undefined {
  try {
    const boc = parseBoc(body, { rootLevelMax: 3 });
    return boc.roots.length === 1 ? readDestination(boc, boc.roots[0]!) : undefined;
  } catch {
    return undefined;
  }
}

/** `ext_in_msg_info$10 src:MsgAddressExt dest:MsgAddressInt import_fee:Grams`. */
function readDestination(boc: Boc, root: number): { readonly workchain: number; readonly id: Buffer } {
  if (boc.levelMask(root) !== 0) reject('external message must have zero level');
  let slice: CellSlice;
  try {
    slice = new CellSlice(boc, root);
    if (slice.uint(2) !== 2) reject('external message must begin with ext_in_msg_info$10');
    if (slice.uint(2) !== 0) slice.skip(slice.uint(9));
    if (slice.uint(2) !== 2 || slice.bit()) {
      reject('destination of an inbound external message is an invalid blockchain address');
    }
    return { workchain: slice.int(8), id: slice.hash() };
  } catch (error) {
    if (error instanceof DecodeError) {
      reject('external message is not a (Message Any) according to automated checks');
    }
    throw error;
  }
}

function findAccount(view: ChainView, workchain: number, id: Buffer): ShardAccount | undefined {
  const tip = tipBlock(view);
  const prefix = id.readBigUInt64BE(0);
  const home =
    workchain === MASTERCHAIN
      ? tip
      : tip.shards
          .filter(({ block }) => block.workchain === workchain && shardContainsPrefix(block.shard, prefix))
          .map(({ block }) => view.chain.find(block))[0];
  if (home === undefined) {
    reject(
      `no shard in masterchain state for account ${workchain}:0x${prefix.toString(16).padStart(16, '0')}`,
      serverCode.notReady,
    );
  }
  const { states } = view.chain;
  return findShardAccount(states, openState(states, home.state).accounts, id);
}

/** Handlers of messages. */
export const messageQueries = {
  sendMessage: (view, args, { inbox }) => inbox.accept(view, args),
} satisfies Partial<QueryHandlers>;
