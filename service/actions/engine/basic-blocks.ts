import { makeFragment, type TraceFragment } from './trace-fragment.ts';
import { openBody, tryRead } from './body.ts';
import { isLog, type EventMessage, type ClassifierNode } from './classifier-input.ts';
import type { Steps } from './steps.ts';
import type { ContractSlice } from '#service/decode/cell-slice.ts';
import { readSnake, takeText } from '#service/decode/contract-data.ts';

/** A contract call, as later patterns read it. */
export type Call = { readonly opcode: number | null; readonly message: EventMessage };

/** A transfer of TON with its comment. */
export type TonTransfer = {
  readonly message: EventMessage;
  /** Text, or base64 when it is encrypted. */
  readonly comment: string | null;
  readonly encrypted: boolean;
};

export const callType = 'call_contract';
export const tonTransferType = 'ton_transfer';
export const deployType = 'contract_deploy';
export const tickTockType = 'tick_tock';

const ENCRYPTED = 0x2167da4b;

/** Call of a block; undefined for other blocks. */
export function callOf(block: TraceFragment): Call | undefined {
  return block.type === callType ? (block.data as Call) : undefined;
}

export function tonTransferOf(block: TraceFragment): TonTransfer | undefined {
  return block.type === tonTransferType ? (block.data as TonTransfer) : undefined;
}

/** Deployments in a block or in any of its parts. */
export function deploymentsOf(block: TraceFragment): TraceFragment[] {
  return block.type === deployType ? [block] : block.parts.flatMap(deploymentsOf);
}

/** Makes a block for each node of a trace, connected as the nodes are (service/actions/README.md#tree-of-a-trace). */
export function* basicBlocks(root: ClassifierNode): Steps<TraceFragment> {
  const first = basicBlock(root);
  const open: [ClassifierNode, TraceFragment][] = [[root, first]];
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    const [node, block] = entry;
    yield;
    block.next = node.children.map((child) => {
      const next = basicBlock(child);
      next.previous = block;
      open.push([child, next]);
      return next;
    });
  }
  return first;
}

/** The block of one node. */
export function basicBlock(node: ClassifierNode): TraceFragment {
  const { message, transaction } = node;
  if (message === undefined) {
    const columns = { source: transaction.account };
    return makeFragment({ type: tickTockType, columns, failed: transaction.aborted }, [node], []);
  }
  const isTransfer =
    message.source !== null &&
    message.destination !== null &&
    (message.opcode === null || message.opcode === 0 || message.opcode === ENCRYPTED);
  const parts = isDeployment(node) ? [deployment(node, message)] : [];
  const extraCurrencies = message.extraCurrencies ?? {};
  const { source, destination, value } = message;
  if (isTransfer) {
    const { comment, encrypted } = commentOf(message);
    return makeFragment(
      {
        type: tonTransferType,
        columns: {
          source,
          destination,
          value,
          extraCurrencies,
          data: { ton_transfer_data: { content: comment, encrypted } },
        },
        data: { message, comment, encrypted } satisfies TonTransfer,
        failed: transferFailed(node, message),
      },
      [node],
      parts,
    );
  }
  return makeFragment(
    {
      type: callType,
      columns: { source, destination, value, opcode: message.opcode, extraCurrencies },
      data: { opcode: message.opcode, message } satisfies Call,
      failed: callFailed(node, message),
    },
    [node],
    parts,
  );
}

/** True also for a log, by its transaction. */
function isDeployment(node: ClassifierNode): boolean {
  const { originalStatus, endStatus } = node.transaction;
  return (originalStatus === 'uninit' || originalStatus === 'nonexist') && endStatus === 'active';
}

function deployment(node: ClassifierNode, { source, destination, value, opcode }: EventMessage): TraceFragment {
  const columns = { source, destination, value, opcode };
  return makeFragment({ type: deployType, columns, failed: node.transaction.aborted }, [node], []);
}

function transferFailed({ transaction }: ClassifierNode, { bounce }: EventMessage): boolean {
  if (!transaction.aborted) return false;
  if (bounce) return true;
  return transaction.endStatus !== 'uninit' && transaction.skippedReason !== 'no_gas';
}

function callFailed(node: ClassifierNode, { value, opcode, extraCurrencies }: EventMessage): boolean {
  if (isLog(node) || !node.transaction.aborted) return false;
  const isWorthless = (value ?? 0n) === 0n && Object.keys(extraCurrencies ?? {}).length === 0;
  return !(isWorthless && opcode !== null);
}

/** The comment of a plain transfer (service/actions/README.md#tree-of-a-trace); null when there is none. */
function commentOf(message: EventMessage): { readonly comment: string | null; readonly encrypted: boolean } {
  const encrypted = message.opcode === ENCRYPTED;
  if (message.opcode === null) return { comment: null, encrypted };
  const comment = tryRead(() => {
    const slice = openBody(message);
    slice.skip(32);
    return slice.remainingBits === 0 ? undefined : readComment(slice, encrypted);
  });
  return { comment: comment ?? null, encrypted };
}

/** The text over a chain of cells, in base64 where it is encrypted; undefined when it is none. Throws DecodeError. */
export function readComment(slice: ContractSlice, encrypted: boolean): string | undefined {
  const bytes = readSnake(slice, { isStrict: true });
  return bytes && takeText(slice.budget, encrypted ? bytes.toString('base64') : escapedText(bytes));
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** UTF-8 text, bytes that are none as `\\xNN`, without NULs. */
export function escapedText(bytes: Buffer): string {
  return decodeEscaped(bytes).replaceAll('\0', '');
}

function decodeEscaped(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch {
    // The longest that a byte becomes is `\xNN`.
    const text = Buffer.allocUnsafe(4 * bytes.length);
    let end = 0;
    for (let at = 0; at < bytes.length;) {
      const next = at + sequenceLength(bytes, at);
      if (next === at) end = escape(bytes[at++]!, text, end);
      while (at < next) text[end++] = bytes[at++]!;
    }
    return text.toString('utf8', 0, end);
  }
}

const hexDigits = Buffer.from('0123456789abcdef');

/** Returns the offset behind. */
function escape(byte: number, text: Buffer, at: number): number {
  text[at] = 0x5c;
  text[at + 1] = 0x78;
  text[at + 2] = hexDigits[byte >> 4]!;
  text[at + 3] = hexDigits[byte & 15]!;
  return at + 4;
}

/** Bytes of the well-formed UTF-8 sequence that starts here; 0 when none does (Unicode, table 3-7). */
function sequenceLength(bytes: Buffer, at: number): number {
  const lead = bytes[at]!;
  if (lead < 0x80) return 1;
  const length = lead < 0xc2 || lead > 0xf4 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  const [least, most] = secondBytes.get(lead) ?? [0x80, 0xbf];
  for (let place = 1; place < length; place++) {
    const byte = bytes[at + place] ?? 0;
    if (byte < (place === 1 ? least : 0x80) || byte > (place === 1 ? most : 0xbf)) return 0;
  }
  return length;
}

/** Range of the second byte by the first byte. It excludes overlong forms, surrogates, and values beyond Unicode. */
const secondBytes: ReadonlyMap<number, readonly [least: number, most: number]> = new Map([
  [0xe0, [0xa0, 0xbf]],
  [0xed, [0x80, 0x9f]],
  [0xf0, [0x90, 0xbf]],
  [0xf4, [0x80, 0x8f]],
]);
