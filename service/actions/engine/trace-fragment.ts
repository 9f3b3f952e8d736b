import type { ActionColumns } from './columns.ts';
import { nodeLt, nodeUtime, type ClassifierNode, type EventTransaction } from './classifier-input.ts';

/** A part of a trace with one meaning: first every message by itself, then whole operations that patterns found (service/actions/README.md#matching). */
export type TraceFragment = {
  /** `ton_transfer`, `call_contract`, `jetton_transfer` and so on. */
  readonly type: string;
  /** The action's type where it differs, as `stake_deposit` of a `tonstakers_deposit`. */
  readonly actionType: string;
  /** Ascending by logical time. */
  readonly nodes: readonly ClassifierNode[];
  /** The transaction that sent its first message; undefined for what began outside, or with several messages of one transaction. */
  readonly begunBy: EventTransaction | undefined;
  readonly columns: ActionColumns;
  /** Data that patterns of other families read. */
  readonly data: unknown;
  readonly failed: boolean;
  /** Accounts that belong to it beyond those of its columns and transactions. */
  readonly accounts: readonly string[];
  /** Blocks that it was made of; deployments that happened in it stand here too. */
  readonly parts: readonly TraceFragment[];
  previous: TraceFragment | undefined;
  next: TraceFragment[];
  /** The block that this one became a part of. */
  mergedInto: TraceFragment | undefined;
};

/** Content of a new block. */
export type NewFragment<Type extends string = string> = {
  readonly type: Type;
  readonly actionType?: Type;
  readonly columns: ActionColumns;
  readonly data?: unknown;
  readonly failed?: boolean;
  readonly accounts?: readonly string[];
};

export function makeFragment(
  { type, actionType = type, columns, data, failed = false, accounts = [] }: NewFragment,
  nodes: readonly ClassifierNode[],
  parts: readonly TraceFragment[],
): TraceFragment {
  const fresh = { previous: undefined, next: [], mergedInto: undefined };
  const begunBy = nodes[0]?.parent?.transaction;
  return { type, actionType, columns, data, failed, accounts, nodes, begunBy, parts, ...fresh };
}

/**
 * Replaces blocks that follow each other, or follow the same block, by a new block. The new block takes their nodes.
 * It follows the block before the first of them, and takes over all blocks after any of them.
 * @returns undefined, with nothing changed, when the blocks are not connected
 */
export function mergeFragments(made: NewFragment, blocks: Iterable<TraceFragment>): TraceFragment | undefined {
  const parts = [...new Set(blocks)];
  const within = new Set(parts);
  const tops = parts.filter(({ previous }) => previous === undefined || !within.has(previous));
  const [top] = tops;
  const isConnected = tops.every(({ previous }) => previous === top?.previous) && (tops.length === 1 || top?.previous);
  if (top === undefined || !isConnected || parts.some(({ mergedInto }) => mergedInto !== undefined)) return undefined;
  // TON Center puts an empty block, which nothing began, in front of blocks that only follow the same block.
  return joinFragments(made, parts, tops.length === 1 ? top.begunBy : undefined);
}

/**
 * Replaces blocks that need not be connected by a new block, at the position nearest to the root.
 * @param begunBy the transaction that began the block
 * @param beside of parts that two messages began, the other message. It belongs to the block, and possibly to other blocks too.
 */
export function joinFragments(
  made: NewFragment,
  parts: readonly TraceFragment[],
  begunBy: EventTransaction | undefined,
  beside?: ClassifierNode,
): TraceFragment {
  const within = new Set(parts);
  const own = parts.flatMap((part) => part.nodes);
  const nodes = [...new Set(beside === undefined ? own : [...own, beside])].toSorted(byLt);
  const block = { ...makeFragment(made, nodes, parts), begunBy };
  const tops = parts.filter(({ previous }) => previous === undefined || !within.has(previous));
  const top = tops.reduce((one, other) =>
    one.previous === other.previous || depthOf(one) <= depthOf(other) ? one : other,
  );
  block.previous = top.previous;
  for (const previous of new Set(tops.map((one) => one.previous))) {
    if (previous === undefined) continue;
    previous.next = previous.next
      .filter((one) => one === top || !within.has(one))
      .map((one) => (one === top ? block : one));
  }
  block.next = parts
    .flatMap((part) => part.next)
    .filter((one) => !within.has(one))
    .toSorted(byStart);
  for (const one of block.next) one.previous = block;
  for (const part of parts) part.mergedInto = block;
  return block;
}

function depthOf({ previous }: TraceFragment): number {
  let depth = 0;
  for (let above = previous; above !== undefined; above = above.previous) depth++;
  return depth;
}

function byLt(one: ClassifierNode, other: ClassifierNode): number {
  const [a, b] = [nodeLt(one), nodeLt(other)];
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Order of blocks by the time of their first message. */
export function byStart(one: TraceFragment, other: TraceFragment): number {
  return byLt(one.nodes[0]!, other.nodes[0]!);
}

/** The message that began a block; undefined for tick-tock. */
export function firstNode({ nodes }: TraceFragment): ClassifierNode {
  return nodes[0]!;
}

/** True when the transaction that a block began with was aborted, for any value of the message. */
export function isAborted(block: TraceFragment): boolean {
  return firstNode(block).transaction.aborted;
}

export function transactionsOf({ nodes }: TraceFragment): readonly EventTransaction[] {
  return [...new Set(nodes.map(({ transaction }) => transaction))];
}

/** Smallest and largest times over a block's nodes, as rows have them (service/actions/README.md#rows-of-actions). */
export function timesOf({ nodes }: TraceFragment) {
  let [startLt, startUtime] = [nodeLt(nodes[0]!), nodeUtime(nodes[0]!)];
  let [endLt, endUtime] = [nodes[0]!.transaction.lt, nodes[0]!.transaction.utime];
  for (const node of nodes) {
    const { lt, utime } = node.transaction;
    const at = nodeLt(node);
    if (at < startLt) startLt = at;
    startUtime = Math.min(startUtime, nodeUtime(node));
    if (lt > endLt) endLt = lt;
    endUtime = Math.max(endUtime, utime);
  }
  return { startLt, startUtime, endLt, endUtime };
}

/** All blocks of a tree that are no parts of others, each before those that follow it, level by level. */
export function* breadthFirst(root: TraceFragment): Generator<TraceFragment> {
  const queue = [root];
  for (let at = 0; at < queue.length; at++) {
    const block = queue[at]!;
    yield block;
    queue.push(...block.next);
  }
}
