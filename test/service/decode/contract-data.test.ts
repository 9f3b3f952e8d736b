import { beginCell, type Cell } from '@ton/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { openContractCell, readSnake, takeText, walkDictionary, writeBag } from '#service/decode/contract-data.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { BodyBudget } from '#service/decode/messages/decoded.ts';
import { decodeBody } from '#service/decode/messages/messages.ts';
import { READ_LIMITS, ReadBudget } from '#service/decode/read-budget.ts';
import { readDnsRecords } from '#service/live/tokens/dns-records.ts';
import { readStoredContent, readTokenContent, type TokenContent } from '#service/live/tokens/token-content.ts';
import { ORDER_STEPS_MAX, readOrderActions } from '#service/v3/views/multisig-order.ts';
import { anyText } from '#test/support/any-text.ts';
import { countedDictionary, sharedDictionary, sharedGraph } from '#test/support/shared-cells.ts';

const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

function root(cell: Cell) {
  const table = parseBoc(cell.toBoc());
  return { table, cell: table.roots[0]! };
}

/** Returns the value, or undefined for data that are refused. */
function refused<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

describe('a budget', () => {
  it('pays for a text what its JSON takes in UTF-8', () => {
    const texts = fc.oneof(anyText(), fc.string({ unit: 'binary-ascii' }), fc.string());
    fc.assert(
      fc.property(texts, (text) => {
        const budget = new ReadBudget();
        expect(takeText(budget, text)).toBe(text);
        expect(budget.outputTaken).toBe(Buffer.byteLength(JSON.stringify(text)));
      }),
    );
  });

  it('a budget ends a walk over 2^256 entries in 300 cells', () => {
    const budget = new ReadBudget();
    const cell = root(sharedDictionary(256, 256, beginCell()));
    let entries = 0;
    expect(() => walkDictionary(openContractCell(cell, budget), 256, () => void entries++)).toThrow(DecodeError);
    expect(budget.isSpent).toBe(true);
    expect(entries).toBeLessThan(READ_LIMITS.steps);
  });

  it('a budget ends a text of more bytes than one read may copy', () => {
    const budget = new ReadBudget({ bytes: 100 });
    const text = beginCell()
      .storeBuffer(Buffer.alloc(60))
      .storeRef(beginCell().storeBuffer(Buffer.alloc(60)))
      .endCell();
    expect(() => readSnake(openContractCell(root(text), budget))).toThrow(DecodeError);
  });

  it('a budget ends a bag before it is written', () => {
    let chain = beginCell().endCell();
    for (let at = 0; at < 50; at++) chain = beginCell().storeUint(at, 32).storeRef(chain).endCell();
    expect(() => writeBag(root(chain), new ReadBudget({ steps: 40 }))).toThrow(DecodeError);
    expect(() => writeBag(root(chain), new ReadBudget({ bytes: 100 }))).toThrow(DecodeError);
    expect(writeBag(root(chain)).length).toBeGreaterThan(300);
  });
});

function shown(content: TokenContent): unknown {
  return content.kind === 'onchain' ? [...content.attributes] : content.uri;
}

/** Returns a content whose 16 values are one dictionary of 2^levels chunks of one byte that are no text. */
function poisoned(levels: number): Cell {
  const chunks = countedDictionary(32, levels, beginCell().storeRef(beginCell().storeUint(0xff, 8)));
  const value = beginCell().storeUint(1, 8).storeBit(true).storeRef(chunks);
  const attributes = sharedDictionary(256, 4, beginCell().storeRef(value));
  return beginCell().storeUint(0, 8).storeBit(true).storeRef(attributes).endCell();
}

describe('a token content', () => {
  it.each([16, 24, 32])('a token content whose values share a dictionary of 2^%i chunks costs one budget', (levels) => {
    const budget = new ReadBudget();
    readTokenContent(root(poisoned(levels)), budget);
    expect(budget.stepsTaken).toBeGreaterThan(READ_LIMITS.steps / 2);
    expect(budget.stepsTaken).toBeLessThanOrEqual(READ_LIMITS.steps + 32);
    const kept = new ReadBudget();
    readStoredContent(root(poisoned(levels)), kept);
    expect(kept.stepsTaken).toBeLessThanOrEqual(READ_LIMITS.steps + 32);
  });
});

describe('an order of a multisig', () => {
  it('a multisig order of 256 steps that share two dictionaries of 256 addresses is cut, with a reason in each further step', () => {
    const address = beginCell().storeUint(4, 3).storeInt(0, 8).storeBuffer(Buffer.alloc(32, 1));
    const members = sharedDictionary(8, 8, address);
    const step = beginCell()
      .storeUint(0x1d0cfbd3, 32)
      .storeUint(1, 8)
      .storeRef(members)
      .storeBit(true)
      .storeRef(members);
    const order = sharedDictionary(8, 8, beginCell().storeRef(step));
    const budget = new ReadBudget();
    const actions = [...readOrderActions(order.toBoc(), budget)];
    expect(actions).toHaveLength(256);
    expect(actions[0]).toMatchObject({ parsed: true, parsed_body_type: 'multisig_update_params' });
    expect(actions.at(-1)).toMatchObject({ parsed: false, error: expect.stringContaining('order action') });
    expect(JSON.stringify(actions).length).toBeLessThan(READ_LIMITS.output);
  });
});

it('graphs of shared cells cost every reader one budget and at most 4 MB of answer', () => {
  fc.assert(
    fc.property(sharedGraph, (graph) => {
      const cell = root(graph);
      const boc = graph.toBoc();
      const budgets = { content: new ReadBudget(), kept: new ReadBudget(), records: new ReadBudget() };
      const body = new BodyBudget();
      const order = new ReadBudget({ steps: ORDER_STEPS_MAX });
      const answers = [
        refused(() => shown(readTokenContent(cell, budgets.content))),
        refused(() => readStoredContent(cell, budgets.kept)),
        refused(() => readDnsRecords(cell, budgets.records).map(({ known }) => known)),
        refused(() => decodeBody(openContractCell(cell), body)),
        refused(() => [...readOrderActions(boc, order)]),
      ];
      for (const answer of answers) expect(JSON.stringify(answer ?? null).length).toBeLessThan(ANSWER_BYTES_MAX);
      expect(order.stepsTaken).toBeLessThanOrEqual(ORDER_STEPS_MAX + 32);
      for (const budget of [...Object.values(budgets), body]) {
        expect(budget.stepsTaken).toBeLessThanOrEqual(READ_LIMITS.steps + 32);
      }
    }),
    { numRuns: 200, seed: 34 },
  );
});
