import type { Boc } from '#service/decode/boc.ts';
import { BOC_MAGIC, countBocCells, parseBoc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { digestBody, readMessage } from '#service/decode/tlb/message.ts';
import type { Message } from '#service/decode/tlb/message.ts';
import { normalizedMessageHash } from '#service/decode/tlb/normalized-message.ts';
import { LiveError } from '../errors.ts';

/** A message from outside that has the form the network takes. */
export type ExternalMessage = {
  /** Message as sent: one root, without a checksum, the same for every spelling of the same cells. */
  readonly boc: Buffer;
  /** Hash of the message's cell, 32 bytes. */
  readonly hash: Buffer;
  /** Hash of the message without parts that the sender may choose freely (TEP-467), 32 bytes. */
  readonly normalizedHash: Buffer;
};

/** Limits of messages from outside: the network's own unless its configuration (parameter 43) sets others. */
const MESSAGE_BYTES_MAX = 65_535;
const MESSAGE_DEPTH_MAX = 512;

/** Fewest bytes of a bag of cells that the node accepts. */
const BAG_BYTES_MIN = 10;

const bagMagics: readonly number[] = Object.values(BOC_MAGIC);

/**
 * Reads an external message and makes all checks that need no lite server: bag, kind of message, size, depth.
 * @throws LiveError `bad_message`, in the words of tonlib and the node (service/v2/README.md#texts-of-lite-servers)
 */
export function readExternalMessage(bytes: Buffer): ExternalMessage {
  return readOf(bytes, { internal: false });
}

/** A message that may come to an account: from outside, or from another account. */
export type IncomingMessage = ExternalMessage & { readonly isInternal: boolean };

/**
 * Reads a message from outside, or from another account within the bounds of messages from outside. The normalized hash of a message from
 * another account is its hash.
 * @throws LiveError `bad_message`, in the same words as `readExternalMessage`
 */
export function readIncomingMessage(bytes: Buffer): IncomingMessage {
  return readOf(bytes, { internal: true });
}

/** @param allowed `internal`: a message from another account is taken too */
function readOf(bytes: Buffer, allowed: { readonly internal: boolean }): IncomingMessage {
  const bag = readBag(bytes);
  const root = bag.roots[0]!;
  const { info, body } = readMessageOf(bag, root, allowed);
  const boc = writeBoc(bag, [root]);
  if (boc.length > MESSAGE_BYTES_MAX) throw refusedByNode(tooLarge);
  if (bag.depth(root) >= MESSAGE_DEPTH_MAX) throw refusedByNode('external message is too deep');
  const hash = bag.hash(root);
  if (info.kind === 'internal') return { boc, hash, normalizedHash: hash, isInternal: true };
  return { boc, hash, normalizedHash: normalizedMessageHash(bag, root, digestBody(bag, body)), isInternal: false };
}

/** Different cells that fit a message. A cell takes two bytes, and a reference of two bytes to it. */
const MESSAGE_CELLS_MAX = (MESSAGE_BYTES_MAX >> 2) + 1;

/**
 * Refuses parts of a message that have more cells than a message, before the message is written.
 * @param parts bags of cells
 * @throws LiveError `bad_message`, as for the written message
 */
export function requireMessageCells(parts: readonly (Buffer | null)[]): void {
  let cells = 0;
  for (const part of parts) cells += part === null ? 0 : countBocCells(part);
  if (cells > MESSAGE_CELLS_MAX) throw refusedByNode(tooLarge);
}

/** Limit of a bag. An index and stored hashes may make it longer than the sent message, but hardly by this factor. */
const BAG_BYTES_MAX = 8 * MESSAGE_BYTES_MAX;

function readBag(bytes: Buffer): Boc {
  const hasMagic = bytes.length >= 4 && bagMagics.includes(bytes.readUInt32BE(0));
  if (bytes.length >= 4 && !hasMagic) throw badBag('invalid header, error 0');
  if (bytes.length < BAG_BYTES_MIN) {
    throw badBag(`not enough bytes (${bytes.length} present, ${BAG_BYTES_MIN} required)`);
  }
  try {
    const bag = parseBoc(bytes, { bytesMax: BAG_BYTES_MAX, cellsMax: MESSAGE_CELLS_MAX });
    if (bag.roots.length === 1) {
      // Checks the hashes in Merkle cells, which later reads compute.
      bag.hash(bag.roots[0]!);
      return bag;
    }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw error.code === 'too_big' ? refusedByNode(tooLarge) : badBag(error.message, error);
  }
  throw badBag('bag of cells is expected to have exactly one root');
}

function readMessageOf(bag: Boc, root: number, allowed: { readonly internal: boolean }): Message {
  let message: Message;
  try {
    message = readMessage(bag, root);
  } catch (error) {
    throw error instanceof DecodeError ? badMessage('Failed to unpack Message', error) : error;
  }
  const { info, init, body } = message;
  const isTaken = info.kind === 'externalIn' || (info.kind === 'internal' && allowed.internal);
  if (!isTaken) throw badMessage('CommonMsgInfo tag is not ext_in_msg_info');
  if (init !== undefined && init.state === undefined) throw refusedByNode(exotic('state'));
  if (bag.kind(body.cell) !== 'ordinary') throw refusedByNode(exotic('body'));
  return message;
}

const exotic = (part: 'body' | 'state'): string => `the ${part} of the external message is an exotic cell`;

const tooLarge = 'external message too large, rejecting';

function refusedByNode(reason: string): LiveError {
  return badMessage(`LITE_SERVER_UNKNOWN: cannot apply external message to current state : ${reason}`);
}

function badBag(reason: string, cause?: unknown): LiveError {
  return badMessage(`INVALID_BAG_OF_CELLS: bodycannot deserialize bag-of-cells: ${reason}`, cause);
}

function badMessage(text: string, cause?: unknown): LiveError {
  return new LiveError('bad_message', text, {}, cause);
}
