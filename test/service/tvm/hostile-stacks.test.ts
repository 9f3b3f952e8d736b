import { beginCell, type Cell } from '@ton/core';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { parseBoc, type Boc } from '#service/decode/boc.ts';
import { TonplaneError } from '#service/error.ts';
import { estimateFees } from '#service/tvm/fees.ts';
import { encodeStack } from '#service/tvm/stack-writer.ts';
import type { StackEntry } from '#service/tvm/stack.ts';
import { sliceEntry } from '#service/tvm/stack.ts';
import { chainOfCells, exoticCells } from '../decode/exotic-cells.ts';
import { startTvm } from './recorded-world.ts';
import { callOf } from './small-world.ts';
import { countOf } from '#test/support/volume.ts';

const SEED = 20261127;

const { tvm, register } = startTvm({ workers: 2 });
afterAll(() => tvm.close());

/** Instructions of random code. `REPEATED` stands for `PUSHINT times; PUSHCONT { body }; REPEAT`. */
const DROP = '30';
const NULL = '6d';
const DUP = '20';
/** `PUSHINT 1; SWAP; 2 TUPLE`. */
const PREPEND = '71016f02';
const WRAP = '6f01';
const EMPTY_CELL = 'c8c9';
/** `NEWC; STREF; ENDC`. */
const PUT_BELOW = 'c8ccc9';
const CTOS = 'd0';
/** `XCTOS; DROP`: opens the slice of any cell. */
const OPEN = 'd73930';
const repeated = (times: number, body: string): string =>
  `81${times.toString(16).padStart(4, '0')}${(0x90 + body.length / 2).toString(16)}${body}e4`;

const nulls = (count: number): StackEntry[] => Array.from({ length: count }, () => ({ type: 'null' }));

const bags = new WeakMap<Cell, Boc>();

function cellEntry(cell: Cell): StackEntry & { readonly type: 'cell' } {
  const table = bags.get(cell) ?? parseBoc(cell.toBoc());
  bags.set(cell, table);
  return { type: 'cell', table, cell: table.roots[0]! };
}

/** Returns the reasons for which threads were started. */
async function startReasons(): Promise<(string | number)[]> {
  const { values } = await register.getSingleMetric('ton_tvm_thread_starts_total')!.get();
  return values.flatMap(({ labels }) => ('reason' in labels ? [labels['reason'] as string] : []));
}

describe('a result that the VM cannot write out', () => {
  const tooDeep = { code: 'stack_too_deep', data: { limit: 1024 } };

  it.each([
    ['1,025 entries', DROP + repeated(1025, NULL)],
    ['1,026 entries', DROP + repeated(1026, NULL)],
    ['3,600 entries', DROP + repeated(3600, NULL)],
    ['a list of 1,025', DROP + NULL + repeated(1025, PREPEND)],
    ['a list of 1,026', DROP + NULL + repeated(1026, PREPEND)],
    ['a list of 1,025 under ten entries', DROP + repeated(10, NULL) + NULL + repeated(1025, PREPEND)],
    ['1,025 tuples in one another', DROP + NULL + repeated(1025, WRAP)],
    ['a cell of depth 1,024', DROP + EMPTY_CELL + repeated(1024, PUT_BELOW)],
    ['a slice of depth 1,024', DROP + EMPTY_CELL + repeated(1024, PUT_BELOW) + CTOS],
    ['a cell of depth 1,022 in two tuples', DROP + EMPTY_CELL + repeated(1022, PUT_BELOW) + WRAP + WRAP],
  ])('a result such as %s is refused with its bound, and the thread survives', async (_name, code) => {
    await expect(tvm.runGetMethod(callOf(code))).rejects.toMatchObject(tooDeep);
    expect((await tvm.runGetMethod(callOf('71'))).exitCode).toBe(0);
    expect(await startReasons()).not.toContain('crashed');
  });

  it('a result that cannot be written does not affect other methods of the account', async () => {
    const { methodId: _id, stack: _stack, ...subject } = callOf(DROP);
    const calls = [1, 1024, 1].map((count) => ({ methodId: 1, stack: nulls(count) }));
    const results = await tvm.runGetMethods({ ...callOf(''), ...subject, code: callOf('').code, calls, gasTotal: 1e6 });
    expect(results).toMatchObject([{ exitCode: 0 }, tooDeep, { exitCode: 0 }]);
  });

  it.each([
    ['1,025 entries', DROP + repeated(1025, NULL), 'the result is deeper than 1024 cells'],
    [
      '3,400 entries',
      DROP + repeated(3400, NULL),
      'the result is deeper than 1024 cells or has more than 3499 entries: a stack or a list of n entries is n cells deep',
    ],
  ])('the refusal of %s says which bounds a result may be over', async (_name, code, detail) => {
    await expect(tvm.runGetMethod(callOf(code))).rejects.toMatchObject({ data: { detail } });
  });

  it('a result of 3,499 entries with those of its tuples is written, and no larger one', async () => {
    const tuple = repeated(255, NULL) + '8100ff6f80';
    const tuples = DROP + tuple + repeated(12, DUP);
    const { stack } = await tvm.runGetMethod(callOf(tuples + repeated(171, NULL)));
    expect(countEntries(stack)).toBe(3499);
    await expect(tvm.runGetMethod(callOf(tuples + repeated(172, NULL)))).rejects.toMatchObject(tooDeep);
  });

  it('arguments of 7,936 entries with those of their tuples are read', async () => {
    const item: StackEntry = { type: 'tuple', items: nulls(255) };
    const { stack } = await tvm.runGetMethod(
      callOf(repeated(32, DROP), { stack: Array.from({ length: 31 }, () => item) }),
    );
    expect(stack).toEqual([]);
  });

  it('a result at the bound is written', async () => {
    expect((await tvm.runGetMethod(callOf(DROP, { stack: nulls(1024) }))).stack).toHaveLength(1024);
    const { stack } = await tvm.runGetMethod(callOf(DROP + NULL + repeated(1024, PREPEND)));
    expect(stack).toHaveLength(1);
  });
});

describe('an exotic cell', () => {
  it.each(Object.entries(exoticCells))(
    'an exotic cell of kind %s is accepted as a cell argument, not as a slice or builder',
    async (_, cell) => {
      const { stack } = await tvm.runGetMethod(callOf(DROP, { stack: [cellEntry(cell)] }));
      expect(stack).toMatchObject([{ type: 'cell' }]);
      const { table, cell: root } = cellEntry(cell);
      for (const entry of [sliceEntry({ table, cell: root }), { type: 'builder', table, cell: root } as const]) {
        for (const given of [entry, { type: 'tuple', items: [entry] } as const]) {
          expect(() => encodeStack([given])).toThrow(expect.objectContaining({ code: 'stack_invalid' }));
        }
      }
    },
  );

  it.each(Object.entries(exoticCells))(
    'an exotic cell of kind %s that a contract opens is a slice in the result',
    async (_, cell) => {
      const { stack } = await tvm.runGetMethod(callOf(DROP + OPEN, { stack: [cellEntry(cell)] }));
      expect(stack).toMatchObject([{ type: 'slice' }]);
    },
  );

  it('an exotic cell as body of an external message is refused by the emulator, not by a crash', async () => {
    for (const cell of Object.values(exoticCells)) {
      await expect(estimateFees(tvm, feesOf({ body: cell }))).rejects.toMatchObject({ code: 'tvm_bad_request' });
    }
    expect(await startReasons()).not.toContain('crashed');
  });
});

function countEntries(stack: readonly StackEntry[]): number {
  return stack.reduce((sum, entry) => sum + 1 + (entry.type === 'tuple' ? countEntries(entry.items) : 0), 0);
}

/** Estimates fees of a message that deploys and runs code which accepts it. */
function feesOf(parts: { readonly body?: Cell; readonly code?: Cell; readonly data?: Cell }) {
  const accept = beginCell().storeUint(0xf800, 16).endCell();
  return {
    ...callOf(DROP),
    account: null,
    body: (parts.body ?? beginCell().endCell()).toBoc(),
    initCode: (parts.code ?? accept).toBoc(),
    initData: (parts.data ?? accept).toBoc(),
    ignoreSignature: true,
  };
}

/** Returns the code of the run's error; undefined when it has a result. */
async function codeOf(run: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return error instanceof TonplaneError ? error.code : String(error);
  }
}

describe('random inputs of callers', () => {
  const chains = [0, 300, 900, 1000, 1019, 1022, 1023, 1024].map(chainOfCells);
  const known = [...Object.values(exoticCells), ...chains];
  /** Each node has up to four references to earlier nodes, which it shares with later nodes. */
  const trees = fc
    .array(fc.array(fc.nat({ max: 6 }), { maxLength: 4 }), { minLength: 1, maxLength: 30 })
    .map((plans): Cell => {
      const made: Cell[] = [...Object.values(exoticCells), ...chains.slice(0, 4)];
      for (const refs of plans) {
        const builder = beginCell().storeUint(made.length, 16);
        for (const back of refs) builder.storeRef(made[made.length - 1 - back]!);
        made.push(builder.endCell());
      }
      return made.at(-1)!;
    })
    .filter((tree) => tree.depth() <= 1024);
  const roots = fc.oneof(trees, fc.constantFrom(...known));
  const { entry } = fc.letrec<{ entry: StackEntry }>((tie) => ({
    entry: fc.oneof(
      { depthSize: 'large', withCrossShrink: true },
      fc.constant<StackEntry>({ type: 'null' }),
      roots.map((cell): StackEntry => cellEntry(cell)),
      roots.map((cell): StackEntry => sliceEntry(cellEntry(cell))),
      roots.map((cell): StackEntry => ({ ...cellEntry(cell), type: 'builder' })),
      fc.array(tie('entry'), { maxLength: 12 }).map((items): StackEntry => ({ type: 'tuple', items })),
      fc.nat({ max: 1100 }).map(listOf),
    ),
  }));
  const stacks = fc.oneof(fc.array(entry, { maxLength: 8 }), fc.nat({ max: 1100 }).map(nulls));
  const codes = fc
    .array(fc.constantFrom(DROP, NULL, PREPEND, WRAP, EMPTY_CELL, PUT_BELOW, CTOS, OPEN, '20', '01', 'd74c', 'f800'), {
      maxLength: 12,
    })
    .map((parts) => parts.join(''));

  it('random arguments of get-methods never end a thread, and end as typed errors', async () => {
    const allowed = expect.toBeOneOf([undefined, 'stack_too_deep', 'stack_too_big', 'stack_invalid']);
    await fc.assert(
      fc.asyncProperty(codes, stacks, async (code, stack) => {
        expect(await codeOf(() => tvm.runGetMethod(callOf(code, { stack })))).toEqual(allowed);
      }),
      { seed: SEED, numRuns: countOf({ quick: 30, full: 120 }) },
    );
    expect(await startReasons()).not.toContain('crashed');
  });

  it('random parts of an external message never end a thread', async () => {
    const allowed = expect.toBeOneOf([undefined, 'tvm_bad_request', 'fees_unsupported']);
    await fc.assert(
      fc.asyncProperty(roots, roots, roots, async (body, code, data) => {
        for (const parts of [
          { body, data },
          { body, code, data },
        ]) {
          expect(await codeOf(() => estimateFees(tvm, feesOf(parts)))).toEqual(allowed);
        }
      }),
      { seed: SEED, numRuns: countOf({ quick: 10, full: 40 }) },
    );
    expect(await startReasons()).not.toContain('crashed');
  });
});

function listOf(length: number): StackEntry {
  let list: StackEntry = { type: 'null' };
  for (let at = 0; at < length; at++) list = { type: 'tuple', items: [{ type: 'null' }, list] };
  return list;
}
