import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { growTree, type TraceNode, type TreeTransaction } from '#service/v3/views/trace-tree.ts';
import { readRecordedTrace, recordedTraceFiles, type RecordedTrace } from '#test/support/recorded-traces.ts';
import { skipLoudly } from '#test/support/skips.ts';

function transaction(hash: string, took: string | null, sent: readonly string[] = []): TreeTransaction {
  return { hash, in_msg: took === null ? null : { hash: took }, out_msgs: sent.map((message) => ({ hash: message })) };
}

/** Hashes of a tree's transactions, parents first. */
function hashesOf(node: TraceNode): string[] {
  return [node.tx_hash, ...node.children.flatMap(hashesOf)];
}

describe('the tree of a trace', () => {
  test('has one transaction without children for a message that led nowhere', () => {
    expect(growTree([transaction('a', 'outside', ['log'])], 'a')).toEqual({
      root: { tx_hash: 'a', in_msg_hash: 'outside', children: [] },
      whole: true,
    });
  });

  test('leaves out the message of a root that took none', () => {
    expect(growTree([transaction('tick', null)], 'tick')?.root).toEqual({ tx_hash: 'tick', children: [] });
  });

  test('has children in the order of the transactions, not of the messages', () => {
    const tree = growTree(
      [
        transaction('a', 'outside', ['1', '2', '3']),
        transaction('c', '3'),
        transaction('d', '1', ['4']),
        transaction('b', '2'),
        transaction('e', '4'),
      ],
      'a',
    );
    expect(tree?.root.children.map((child) => child.tx_hash)).toEqual(['c', 'd', 'b']);
    expect(tree?.root.children[1]?.children).toEqual([{ tx_hash: 'e', in_msg_hash: '4', children: [] }]);
    expect(tree?.whole).toBe(true);
  });

  test('reports a missing transaction in between, and is the tree of the root', () => {
    const tree = growTree([transaction('a', 'outside', ['1']), transaction('c', '2')], 'a');
    expect(tree).toEqual({ root: { tx_hash: 'a', in_msg_hash: 'outside', children: [] }, whole: false });
    expect(growTree([transaction('b', '1'), transaction('a', 'outside')], 'a')?.root.tx_hash).toBe('a');
  });

  test('is none without transactions', () => {
    expect(growTree([], 'a')).toBeUndefined();
  });

  test('holds every transaction of any trace once, each below the one that sent its message', () => {
    // A trace of n transactions: each but the first takes a message of an earlier one.
    const traces = fc.array(fc.nat(), { maxLength: 60 }).map((choices) => {
      const parents = choices.map((choice, at) => choice % (at + 1));
      return [transaction('0', 'outside'), ...parents.map((_, at) => transaction(`${at + 1}`, `m${at + 1}`))].map(
        (one, at) => ({
          ...one,
          out_msgs: parents.flatMap((parent, child) => (parent === at ? [{ hash: `m${child + 1}` }] : [])),
        }),
      );
    });
    fc.assert(
      fc.property(traces, (transactions) => {
        const tree = growTree(transactions, '0');
        expect(hashesOf(tree!.root).toSorted()).toEqual(transactions.map(({ hash }) => hash).toSorted());
        expect(tree!.whole).toBe(true);
        const below = (node: TraceNode): void =>
          node.children.forEach((child) => {
            const sender = transactions.find(({ hash }) => hash === node.tx_hash)!;
            expect(sender.out_msgs.map(({ hash }) => hash)).toContain(child.in_msg_hash);
            below(child);
          });
        below(tree!.root);
      }),
      { seed: 7 },
    );
  });
});

type RecordedNode = Omit<TraceNode, 'children'> & { readonly children: readonly RecordedNode[] | null };

/** TON Center has no list for messages to outside only (service/v3/README.md#differences-from-ton-center). */
function withLists({ children, ...node }: RecordedNode): TraceNode {
  return { ...node, children: (children ?? []).map(withLists) };
}

const grown = ({ trace }: RecordedTrace) =>
  growTree(
    trace.transactions.map(({ hash, inMessage, outMessages }) => ({
      hash,
      in_msg: inMessage,
      out_msgs: outMessages,
    })),
    trace.traceId,
  );

const files = recordedTraceFiles();

describe.skipIf(
  skipLoudly(files.length === 0, { what: 'trees of recorded traces', why: 'mainnet-traces is not among the fixtures' }),
)('the tree of a recorded trace', () => {
  test.each(files.map((file) => [readRecordedTrace(file)]))('is as it was recorded: $name', (recorded) => {
    const { trace, expected } = recorded;
    expect(grown(recorded)).toEqual({ root: withLists(expected.trace_tree as RecordedNode), whole: true });
    expect(trace.transactions.map(({ hash }) => hash)).toEqual(expected.transactions_order);
  });
});
