import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { box, layoutOf, partsWithin } from '#service/explorer/app/trace/layout.ts';
import { nodesOf, treeOf, type TraceTree } from '#service/explorer/app/trace/tree.ts';
import { valueFlowOf } from '#service/explorer/app/trace/value-flow.ts';
import { fitted, frameOf, moved, showing, zoomed } from '#service/explorer/app/trace/view.ts';
import { actionOf, chainOf, fanOf, messageOf, transactionOf } from './traces.ts';

function treeOrFail(...given: Parameters<typeof treeOf>): TraceTree {
  const tree = treeOf(...given);
  if (tree === undefined) throw new Error('the trace has no root');
  return tree;
}

describe('the tree of a trace', () => {
  it('has a node for each transaction, in the order of the trace', () => {
    expect(nodesOf(treeOrFail(fanOf(3))).map(({ id }) => id)).toEqual(['root', 't0', 't1', 't2']);
  });

  it('of thousands of transactions in a row is whole', () => {
    expect(nodesOf(treeOrFail(chainOf(5000)))).toHaveLength(5000);
  });

  it('names what became of each transaction', () => {
    const failed = { type: 'ord', aborted: true, compute_ph: { skipped: false, success: false, exit_code: 13 } };
    const waiting = messageOf({ hash: 'm3', destination: '0:D' });
    const tree = treeOrFail({
      trace: {
        tx_hash: 'a',
        children: [{ tx_hash: 'b' }, { tx_hash: 'c' }, { tx_hash: null, in_msg_hash: 'm3' }],
      },
      transactions: {
        a: transactionOf({ hash: 'a', out_msgs: [waiting] }),
        b: transactionOf({ hash: 'b', description: failed }),
        c: transactionOf({ hash: 'c', in_msg: messageOf({ hash: 'm2', bounced: true }), emulated: true }),
      },
    });
    const [first, second, third] = tree.children;
    expect(tree).toMatchObject({ state: 'done', isPending: false });
    expect(first).toMatchObject({ state: 'failed' });
    expect(second).toMatchObject({ state: 'bounced', isPending: true });
    expect(third).toMatchObject({ id: 'm3', state: 'waiting', account: '0:D', message: waiting, isPending: true });
  });

  it('is absent for a trace that has no root yet', () => {
    expect(treeOf({ trace: null })).toBeUndefined();
  });
});

const emptyNode = (id: string) => ({ id, account: null, state: 'done', isPending: false, children: [] as TraceTree[] });

describe('the layout of a trace', () => {
  /** A tree of up to 60 nodes: each node after the first hangs below an earlier node. */
  const trees = fc.array(fc.nat(), { maxLength: 60 }).map((parents) => {
    const nodes = [emptyNode('root'), ...parents.map((_parent, index) => emptyNode(`t${index}`))] as (TraceTree & {
      children: TraceTree[];
    })[];
    for (const [index, parent] of parents.entries()) nodes[parent % (index + 1)]?.children.push(nodes[index + 1]!);
    return nodes[0]!;
  });

  it('has no two boxes over each other, and each child right of its parent', () => {
    fc.assert(
      fc.property(trees, (tree) => {
        const { nodes, width, height } = layoutOf(tree);
        for (const [index, one] of nodes.entries()) {
          expect(one.x >= 0 && one.y >= 0 && one.x + box.width <= width && one.y + box.height <= height).toBe(true);
          expect(one.parent === undefined || one.x >= one.parent.x + box.width).toBe(true);
          const over = nodes
            .slice(index + 1)
            .some(({ x, y }) => Math.abs(x - one.x) < box.width && Math.abs(y - one.y) < box.height);
          expect(over).toBe(false);
        }
      }),
    );
  });

  it('draws a part of a large trace alone', () => {
    const layout = layoutOf(treeOrFail(fanOf(4000)));
    const view = fitted(layout, { width: 1000, height: 500 });
    const { boxes, lines } = partsWithin(layout, frameOf(view, { width: 1000, height: 500 }));
    expect(layout.nodes).toHaveLength(4001);
    expect(boxes.map(({ node }) => node.id)).toContain('root');
    expect(boxes.length).toBeGreaterThan(3);
    expect(boxes.length).toBeLessThan(40);
    // Every line begins at the root, which is in view.
    expect(boxes.length + lines.length).toBe(4001);
    expect(partsWithin(layout, { x: 5000, y: 0, width: 50, height: 100 })).toEqual({ boxes: [], lines: [] });
  });
});

describe('the view of a picture', () => {
  const size = { width: 800, height: 400 };
  const view = { x: 10, y: 20, scale: 0.5 };

  it('shows a small picture whole', () => {
    const layout = layoutOf(treeOrFail(fanOf(3)));
    const frame = frameOf(fitted(layout, size), size);
    expect(partsWithin(layout, frame).boxes).toHaveLength(4);
    expect(frame.x <= 0 && frame.y <= 0 && frame.y + frame.height >= layout.height).toBe(true);
  });

  it('changes its size around a point that stays', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.2, max: 5, noNaN: true }), fc.nat(800), fc.nat(400), (factor, x, y) => {
        const after = zoomed(view, factor, { x, y });
        expect(after.x + x / after.scale).toBeCloseTo(view.x + x / view.scale, 6);
        expect(after.y + y / after.scale).toBeCloseTo(view.y + y / view.scale, 6);
        expect(after.scale).toBeLessThanOrEqual(2);
      }),
    );
  });

  it('moves by pixels, and as little as a part needs to be seen', () => {
    expect(moved(view, 50, -50)).toEqual({ x: 110, y: -80, scale: 0.5 });
    const inside = { x: 100, y: 100, width: 10, height: 10 };
    expect(showing(view, size, inside)).toEqual(view);
    const right = { x: 5000, y: 100, width: 10, height: 10 };
    const { x, y, scale } = showing(view, size, right);
    expect([x + 800 / scale >= 5010, x <= 5000, y, scale]).toEqual([true, true, 20, 0.5]);
  });
});

const state = (balance: string) => ({
  hash: '',
  balance,
  account_status: 'active',
  data_hash: null,
  code_hash: null,
});

describe('the flow of value in a trace', () => {
  it('is the difference of balances', () => {
    const one = transactionOf({
      hash: 'a',
      account: '0:A',
      account_state_before: state('100'),
      account_state_after: state('60'),
    });
    const other = transactionOf({
      hash: 'b',
      account: '0:B',
      account_state_before: state('1'),
      account_state_after: state('31'),
    });
    expect(valueFlowOf([other, one], [])).toMatchObject([
      { account: '0:A', nanotons: -40n },
      { account: '0:B', nanotons: 30n },
    ]);
  });

  it('is made of messages and fees where no state has a balance', () => {
    const sent = messageOf({ hash: 'm', value: '30', fwd_fee: '2' });
    const given = transactionOf({
      hash: 'a',
      account: '0:A',
      total_fees: '5',
      in_msg: messageOf({ hash: 'n', value: '7' }),
      out_msgs: [sent],
    });
    expect(valueFlowOf([given], [])).toMatchObject([{ account: '0:A', nanotons: -30n, fees: 7n }]);
  });

  it('has the tokens of actions that succeeded, whatever form their details have', () => {
    const transfer = { asset: '0:J', amount: '5', sender: '0:A', receiver: '0:B' };
    const flows = valueFlowOf(
      [],
      [
        actionOf('jetton_transfer', transfer),
        actionOf('jetton_transfer', transfer, false),
        actionOf('jetton_transfer', { asset: 7, amount: { a: 1 }, sender: null }),
        actionOf('jetton_swap', {
          sender: '0:A',
          asset_in: '0:J',
          asset_out: '0:K',
          dex_incoming_transfer: { amount: '2' },
          dex_outgoing_transfer: { amount: '9' },
        }),
        actionOf('nft_transfer', { nft_item: '0:N', old_owner: '0:B', new_owner: '0:A' }),
      ],
    );
    const byAccount = new Map(flows.map((flow) => [flow.account, flow]));
    expect([...(byAccount.get('0:A')?.jettons ?? [])]).toEqual([
      ['0:J', -7n],
      ['0:K', 9n],
    ]);
    expect([...(byAccount.get('0:A')?.nfts ?? [])]).toEqual([['0:N', 1]]);
    expect([...(byAccount.get('0:B')?.jettons ?? [])]).toEqual([['0:J', 5n]]);
  });
});
