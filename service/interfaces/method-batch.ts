import type { AccountId } from '../live/accounts/accounts.ts';
import type { StackEntry } from '../tvm/stack.ts';
import type { DetectionWorld } from './detector.ts';
import type { Answers } from './family.ts';
import { idOf, type Ask } from './method-names.ts';

/** Results of methods of one contract. */
export type MethodBatch = {
  readonly answers: Answers;
  /** Ids of methods that the code does not have. */
  readonly absent: readonly number[];
};

/**
 * Most gas of one method, and gas of a visit after which no further method starts. Lite servers give a get-method as much. Gas ends a method at
 * the same place on each machine.
 */
const VISIT_GAS = 300_000;

/** Most entries of a result. A relevant result has a few; with too many it costs memory and means nothing. */
const ENTRIES_MAX = 256;

/** Exit code of compilers' code for an unknown method number. */
const NO_METHOD = 11;

/** Most gas until code finds that a method is missing. The code reads its dictionary, which may be in a library. */
const NO_METHOD_GAS_MAX = 2_000n;

/** Runs methods of one account in one visit of the emulator. Rejects like `ContractWorld.runMethods`. */
export async function runMethodBatch(
  world: DetectionWorld,
  account: AccountId,
  asks: readonly Ask[],
): Promise<MethodBatch> {
  const calls = asks.map(({ method, stack = [] }) => ({ methodId: idOf(method), stack }));
  const { runs } = await world.runMethods({ account, calls, gasLimit: VISIT_GAS, gasTotal: VISIT_GAS });
  const found = new Map<string, readonly StackEntry[]>();
  const absent: number[] = [];
  asks.forEach(({ method }, index) => {
    const run = runs[index];
    if (run === undefined) return;
    const { exitCode, stack } = run;
    if ((exitCode === 0 || exitCode === 1) && stack.length <= ENTRIES_MAX) found.set(method, stack);
    if (isAbsent(run, calls[index]!.methodId)) absent.push(calls[index]!.methodId);
  });
  return { answers: (method) => found.get(method), absent };
}

/**
 * Reports whether the code has no such method. Compilers' code then throws 11 at once, with the method's number on the stack. An existing method may
 * throw 11 as well.
 */
function isAbsent(run: { exitCode: number; gasUsed: bigint; stack: readonly StackEntry[] }, methodId: number): boolean {
  const top = run.stack.at(-1);
  const isSaid = top?.type === 'int' && top.value === BigInt(methodId);
  return run.exitCode === NO_METHOD && run.gasUsed <= NO_METHOD_GAS_MAX && isSaid;
}
