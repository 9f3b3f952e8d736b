import type { BlockId } from '#service/decode/block-id.ts';
import { shardsIntersect } from '#service/decode/shard.ts';
import { openBounds } from '../final/trace-plan.ts';

/** A transaction with its links to others. Hashes are in hex. */
export type LinkedTransaction = {
  readonly hash: string;
  /** Key of the trace that begins here: the normalised hash of its message from outside; null for others. */
  readonly root: string | null;
  /** Message that it took; null for a turn of the chain itself. */
  readonly taken: string | null;
  /** Messages that it sent to accounts. */
  readonly sent: readonly string[];
};

export type LinkedBlock<T extends LinkedTransaction = LinkedTransaction> = {
  readonly name: string;
  readonly id: Pick<BlockId, 'workchain' | 'shard' | 'seqno'>;
  /** Ordered by lt. */
  readonly transactions: readonly T[];
};

/** A transaction of an open trace. */
export type TracePart<B extends LinkedBlock> = {
  readonly transaction: B['transactions'][number];
  readonly block: B;
};

export type OpenTrace<B extends LinkedBlock> = {
  readonly key: string;
  readonly parts: readonly TracePart<B>[];
  /** Messages that no block took yet. */
  readonly onWay: number;
};

/** Traces that began in a block of this run, and that are not final to their end. A pure model: it reads no clock and no network. */
export type OpenTraces<B extends LinkedBlock> = {
  /** Adds a signed block. @returns keys of the traces that it goes on with */
  readonly sign: (block: B) => readonly string[];
  /**
   * Adds the blocks that a masterchain block makes final, some of them signed before. Signed blocks whose place they took are dropped.
   * @returns keys of traces that are void, and the dropped blocks
   */
  readonly finish: (
    blocks: readonly B[],
    mcSeqno: number,
  ) => { readonly replaced: readonly string[]; readonly dropped: readonly B[] };
  /** Drops signed blocks that another signed block replaces. Their traces are void unless they come back by the next final block. */
  readonly drop: (replacement: Pick<B, 'id' | 'name'>) => readonly B[];
  readonly trace: (key: string) => OpenTrace<B> | undefined;
  /** Block of a name that is signed and not final. */
  readonly signed: (name: string) => B | undefined;
  /** Masterchain block that made a block final; undefined for a signed one. */
  readonly finalSeqno: (block: B) => number | undefined;
  readonly clear: () => void;
};

export type OpenTracesBounds = {
  readonly traces: number;
  /** Transactions of one trace. A longer trace is forgotten, and becomes final without a level before it. */
  readonly transactions: number;
  /** Masterchain blocks for which a trace is remembered. */
  readonly blocks: number;
};

/** Some minutes of a busy network. The portions of a trace follow its age, so that none of its transactions is confirmed after its portion. */
export const openTracesBounds: OpenTracesBounds = { traces: 20_000, transactions: 500, blocks: openBounds.blocks };

type Growing<B extends LinkedBlock> = {
  parts: TracePart<B>[];
  readonly waiting: Set<string>;
  /** Masterchain block after which it began. */
  readonly since: number;
};

type Suspect = Pick<BlockId, 'workchain' | 'shard' | 'seqno'>;

export function createOpenTraces<B extends LinkedBlock>(bounds: OpenTracesBounds = openTracesBounds): OpenTraces<B> {
  /** Oldest first. */
  const traces = new Map<string, Growing<B>>();
  const keyOfMessage = new Map<string, string>();
  const signed = new Map<string, B>();
  const finals = new WeakMap<B, number>();
  /** Traces that lost a block, with the place of the block. */
  const suspects = new Map<string, Suspect>();
  let newest = 0;

  function forget(key: string): void {
    for (const message of traces.get(key)?.waiting ?? []) keyOfMessage.delete(message);
    traces.delete(key);
  }

  function begin(key: string): Growing<B> {
    const trace: Growing<B> = traces.get(key) ?? { parts: [], waiting: new Set(), since: newest };
    traces.set(key, trace);
    const [oldest] = traces.keys();
    if (traces.size > bounds.traces && oldest !== undefined) forget(oldest);
    return trace;
  }

  function place(block: B): readonly string[] {
    const touched = new Set<string>();
    for (const transaction of block.transactions) {
      const { root, taken, sent } = transaction;
      const key = root ?? (taken === null ? undefined : keyOfMessage.get(taken));
      if (key === undefined) continue;
      const trace = root === null ? traces.get(key)! : begin(key);
      if (trace.parts.some((part) => part.transaction.hash === transaction.hash)) continue;
      if (taken !== null) unexpect(trace, taken);
      trace.parts.push({ transaction, block });
      for (const message of sent) expect(key, trace, message);
      touched.add(key);
      const suspect = suspects.get(key);
      if (suspect !== undefined && isAtOrAfter(block.id, suspect)) suspects.delete(key);
      if (trace.parts.length > bounds.transactions) forget(key);
    }
    return [...touched].filter((key) => traces.has(key));
  }

  /** Takes a block's transactions out. The messages that they took wait again, and those that they sent are gone. */
  function remove(block: B): void {
    signed.delete(block.name);
    for (const [key, trace] of traces) {
      const gone = trace.parts.filter((part) => part.block === block);
      if (gone.length === 0) continue;
      suspects.set(key, block.id);
      trace.parts = trace.parts.filter((part) => part.block !== block);
      for (const { transaction } of gone) if (transaction.taken !== null) expect(key, trace, transaction.taken);
      for (const message of gone.flatMap(({ transaction }) => transaction.sent)) unexpect(trace, message);
      if (trace.parts.length === 0) forget(key);
    }
  }

  function expect(key: string, { waiting }: Growing<B>, message: string): void {
    waiting.add(message);
    keyOfMessage.set(message, key);
  }

  function unexpect({ waiting }: Growing<B>, message: string): void {
    waiting.delete(message);
    keyOfMessage.delete(message);
  }

  function dropWhere(isGone: (block: B) => boolean): readonly B[] {
    const gone = [...signed.values()].filter(isGone);
    // The newest first: its messages come from those before it.
    for (const block of gone.toSorted((one, other) => other.id.seqno - one.id.seqno)) remove(block);
    return gone;
  }

  /** Ends traces that are final to their end, and traces that are too old. */
  function sweep(): void {
    for (const [key, { parts, waiting, since }] of traces) {
      const isEnded = waiting.size === 0 && parts.every(({ block }) => finals.has(block));
      if (isEnded || newest - since > bounds.blocks) forget(key);
    }
  }

  return {
    sign(block) {
      if (signed.has(block.name) || finals.has(block)) return [];
      signed.set(block.name, block);
      return place(block);
    },
    finish(blocks, mcSeqno) {
      newest = mcSeqno;
      const fresh = blocks.filter(({ name }) => !signed.has(name));
      for (const block of blocks) {
        finals.set(signed.get(block.name) ?? block, mcSeqno);
        signed.delete(block.name);
      }
      const dropped = dropWhere((one) => blocks.some(({ id }) => isAtOrAfter(id, one.id)));
      for (const block of fresh) place(block);
      const replaced = [...suspects].filter(([, suspect]) => blocks.some(({ id }) => isAtOrAfter(id, suspect)));
      for (const [key] of replaced) {
        suspects.delete(key);
        forget(key);
      }
      sweep();
      return { replaced: replaced.map(([key]) => key), dropped };
    },
    drop: (replacement) => dropWhere(({ id, name }) => name !== replacement.name && isAtOrAfter(id, replacement.id)),
    trace(key) {
      const trace = traces.get(key);
      return trace && { key, parts: trace.parts, onWay: trace.waiting.size };
    },
    signed: (name) => signed.get(name),
    finalSeqno: (block) => finals.get(block),
    clear() {
      for (const map of [traces, keyOfMessage, signed, suspects]) map.clear();
    },
  };
}

/** Reports whether a block has the place of another one in its shard, or a later place. */
function isAtOrAfter(one: Suspect, other: Suspect): boolean {
  return one.workchain === other.workchain && one.seqno >= other.seqno && shardsIntersect(one.shard, other.shard);
}
