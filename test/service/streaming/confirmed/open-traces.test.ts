import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  createOpenTraces,
  type LinkedBlock,
  type LinkedTransaction,
} from '#service/streaming/confirmed/open-traces.ts';

const SHARD = 1n << 63n;

function block(seqno: number, name: string, transactions: readonly LinkedTransaction[]): LinkedBlock {
  return { name, id: { workchain: 0, shard: SHARD, seqno }, transactions };
}

const rootOf = (key: string, sent: readonly string[] = []): LinkedTransaction => ({
  hash: `root of ${key}`,
  root: key,
  taken: `message of ${key}`,
  sent,
});

const taking = (message: string, sent: readonly string[] = []): LinkedTransaction => ({
  hash: `taking ${message}`,
  root: null,
  taken: message,
  sent,
});

const bounds = { traces: 100, transactions: 10, blocks: 5 };

describe('open traces', () => {
  it('join the parts of a trace over blocks, and forget it when it is final to its end', () => {
    const traces = createOpenTraces(bounds);
    const [first, second] = [block(1, 'a', [rootOf('k', ['m'])]), block(2, 'b', [taking('m')])];
    expect(traces.sign(first)).toEqual(['k']);
    expect(traces.trace('k')).toMatchObject({ onWay: 1 });
    expect(traces.finish([first], 1)).toEqual({ replaced: [], dropped: [] });
    expect(traces.finalSeqno(first)).toBe(1);
    expect(traces.sign(second)).toEqual(['k']);
    expect(traces.trace('k')).toMatchObject({ onWay: 0, parts: [{ block: first }, { block: second }] });
    traces.finish([second], 2);
    expect(traces.trace('k')).toBeUndefined();
  });

  it('leave out transactions whose trace began before', () => {
    const traces = createOpenTraces(bounds);
    expect(traces.sign(block(1, 'a', [taking('unknown')]))).toEqual([]);
  });

  it('are void when neither the block in place of theirs nor the next final one has them', () => {
    const traces = createOpenTraces(bounds);
    const [lost, other] = [block(1, 'lost', [rootOf('k'), rootOf('l')]), block(1, 'other', [rootOf('l')])];
    traces.sign(lost);
    expect(traces.drop(other)).toEqual([lost]);
    traces.sign(other);
    expect(traces.finish([other], 1)).toEqual({ replaced: ['k'], dropped: [] });
    expect(traces.trace('k')).toBeUndefined();
  });

  it('are void when a final block that was never signed takes the place of theirs', () => {
    const traces = createOpenTraces(bounds);
    const lost = block(1, 'lost', [rootOf('k')]);
    traces.sign(lost);
    expect(traces.finish([block(1, 'other', []), block(2, 'later', [])], 1)).toEqual({
      replaced: ['k'],
      dropped: [lost],
    });
  });

  it('come back with the final block of a later number', () => {
    const traces = createOpenTraces(bounds);
    traces.sign(block(1, 'lost', [rootOf('k', ['m'])]));
    const later = [block(1, 'other', []), block(2, 'later', [rootOf('k', ['m'])])];
    expect(traces.finish(later, 1).replaced).toEqual([]);
    expect(traces.trace('k')).toMatchObject({ onWay: 1, parts: [{ block: later[1] }] });
  });

  it('are bounded in number, transactions and age', () => {
    const traces = createOpenTraces({ traces: 2, transactions: 2, blocks: 5 });
    traces.sign(block(1, 'a', [rootOf('k', ['m']), rootOf('l', ['n']), rootOf('o', ['p'])]));
    expect(traces.trace('k')).toBeUndefined();
    expect(traces.sign(block(2, 'b', [taking('n', ['n2']), taking('n2', ['n3'])]))).toEqual([]);
    expect(traces.trace('l')).toBeUndefined();
    traces.finish([], 6);
    expect(traces.trace('o')).toBeUndefined();
  });

  it('equal those that a new model makes of the blocks that are there, for any history of signed and replaced blocks', () => {
    const steps = fc.property(fc.integer({ min: 1 }), (seed) => {
      let state = seed;
      const draw = (below: number): number => {
        state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
        return (state >> 8) % below;
      };
      const traces = createOpenTraces({ traces: 1000, transactions: 1000, blocks: 1000 });
      const chain: LinkedBlock[] = [];
      const replaced = new Set<string>();
      let finals = 0;
      for (let step = 0; step < 40; step++) {
        const action = draw(4);
        if (action === 0 && finals < chain.length) {
          finals++;
          for (const key of traces.finish([chain[finals - 1]!], finals).replaced) replaced.add(key);
          continue;
        }
        const at = action === 1 && chain.length > finals ? chain.length - 1 : chain.length;
        const waiting = waitingAfter(chain.slice(0, at));
        const taken = waiting.filter(() => draw(2) === 0);
        const key = `k${step}`;
        const made = block(at + 1, `b${step}`, [
          rootOf(
            key,
            Array.from({ length: draw(3) }, (_, one) => `${key} ${one}`),
          ),
          ...taken.map((message) => taking(message, draw(2) === 0 ? [`${message}+`] : [])),
        ]);
        traces.drop(made);
        traces.sign(made);
        chain.splice(at, Infinity, made);
      }
      const model = partsOf(chain, finals);
      for (const [key, hashes] of model) {
        // A void trace is not followed any more.
        if (replaced.has(key)) continue;
        expect(
          traces
            .trace(key)
            ?.parts.map(({ transaction }) => transaction.hash)
            .toSorted(),
        ).toEqual(hashes.toSorted());
      }
    });
    fc.assert(steps, { numRuns: 200 });
  });
});

function waitingAfter(blocks: readonly LinkedBlock[]): string[] {
  const waiting = new Set<string>();
  for (const { taken, sent } of blocks.flatMap(({ transactions }) => transactions)) {
    if (taken !== null) waiting.delete(taken);
    for (const message of sent) waiting.add(message);
  }
  return [...waiting];
}

const keyOf = (name: string): string => name.replace(/^.*?(k\d+).*$/, '$1');

/** Transactions by trace, of those traces that are not final to their end. */
function partsOf(blocks: readonly LinkedBlock[], finals: number): ReadonlyMap<string, readonly string[]> {
  const parts = new Map<string, string[]>();
  const open = new Set<string>();
  const waiting = new Set(waitingAfter(blocks));
  blocks.forEach(({ transactions }, at) => {
    for (const { hash, sent } of transactions) {
      const key = keyOf(hash);
      parts.set(key, [...(parts.get(key) ?? []), hash]);
      if (at >= finals || sent.some((message) => waiting.has(message))) open.add(key);
    }
  });
  return new Map([...parts].filter(([key]) => open.has(key)));
}
