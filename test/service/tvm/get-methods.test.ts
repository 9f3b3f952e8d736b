import { afterAll, describe, expect, it } from 'vitest';
import { TvmError } from '#service/tvm/errors.ts';
import type { GetMethodsRequest } from '#service/tvm/tvm.ts';
import { startTvm } from './recorded-world.ts';
import { callOf } from './small-world.ts';

const { tvm, register } = startTvm();
afterAll(() => tvm.close());

/** Returns calls of get-methods of one account. The code finds the id of a method on top of the stack. */
function callsOf(
  codeHex: string,
  methodIds: readonly number[],
  rest: Partial<GetMethodsRequest> = {},
): GetMethodsRequest {
  const { methodId: _, stack: none, ...subject } = callOf(codeHex);
  return { ...subject, calls: methodIds.map((methodId) => ({ methodId, stack: none })), gasTotal: 10_000_000, ...rest };
}

describe('get-methods of one account', () => {
  it('several get-methods end like each of them alone, in the order of the calls', async () => {
    // INC; DUP; 11 THROWIFNOT: -1 is no method.
    const code = 'a420f28b';
    const calls = [
      { methodId: 5, stack: [] },
      { methodId: -1, stack: [{ type: 'int', value: 7n }] },
      { methodId: 85_143, stack: [{ type: 'null' }] },
    ] as const;
    const together = await tvm.runGetMethods({ ...callsOf(code, []), calls });
    const alone = await Promise.all(calls.map((call) => tvm.runGetMethod(callOf(code, call))));
    expect(together).toEqual(alone);
    expect(together).toMatchObject([{ exitCode: 0 }, { exitCode: 11 }, { exitCode: 0 }]);
  });

  it('each get-method of an account without code has exit code -13', async () => {
    const results = await tvm.runGetMethods({ ...callsOf('', [1, 2]), code: null });
    expect(results).toMatchObject([
      { exitCode: -13, gasUsed: 0n, stack: [{ value: 1n }] },
      { exitCode: -13, gasUsed: 0n, stack: [{ value: 2n }] },
    ]);
  });

  it('a request may have no calls', async () => {
    expect(await tvm.runGetMethods(callsOf('30', []))).toEqual([]);
  });

  it('all calls run when the first ones use up the gas of a visit', async () => {
    // PUSHCONT { NOP } AGAIN: runs until its gas is used up.
    const results = await tvm.runGetMethods(callsOf('9100ea', [1, 2, 3], { gasLimit: 600_000 }));
    expect(results).toMatchObject([{ exitCode: -14 }, { exitCode: -14 }, { exitCode: -14 }]);
  });

  it('calls do not start when earlier calls have used the gas of all', async () => {
    const results = await tvm.runGetMethods(callsOf('9100ea', [1, 2, 3], { gasLimit: 60_000, gasTotal: 100_000 }));
    expect(results).toMatchObject([{ exitCode: -14 }, { exitCode: -14 }]);
    expect(results).toHaveLength(2);
  });

  it('a call whose result cannot be written does not affect the other calls', async () => {
    // 0 EQINT; PUSHCONT { PUSHNULL; 2000 PUSHINT; PUSHCONT { PUSHINT 1; SWAP; 2 TUPLE }; REPEAT }; IF. Id 0 gives a list that is too deep.
    const code = 'c0009a6d8107d09471016f02e4de';
    const [list, other] = await tvm.runGetMethods(callsOf(code, [0, 1]));
    expect(list).toBeInstanceOf(TvmError);
    expect(list).toMatchObject({ code: 'stack_too_deep' });
    expect(other).toMatchObject({ exitCode: 0 });
  });

  it('all calls reject when a shared input is wrong', async () => {
    await expect(tvm.runGetMethods(callsOf('30', [1, 2], { randSeed: Buffer.alloc(31) }))).rejects.toMatchObject({
      code: 'tvm_bad_request',
    });
  });

  it('several get-methods are counted as one call of their own kind', async () => {
    const before = await countOfVisits();
    await tvm.runGetMethods(callsOf('30', [1, 2, 3]));
    expect(await countOfVisits()).toBe(before + 1);
  });
});

async function countOfVisits(): Promise<number> {
  const { values } = await register.getSingleMetric('ton_tvm_calls_total')!.get();
  return values.find(({ labels }) => 'kind' in labels && labels['kind'] === 'getMethods')?.value ?? 0;
}
