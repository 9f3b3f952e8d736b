import type { AccountId } from '../live/accounts.ts';
import type { StackEntry } from '../live/vm-values.ts';
import type { DetectionWorld } from './detector.ts';
import type { Answers } from './family.ts';
import { idOf, type Ask } from './method-names.ts';

/** What methods of one contract said. */
export type Visit = {
  readonly answers: Answers;
  /** Ids of methods that the code does not have. */
  readonly absent: readonly number[];
};

/** Of one method: what the node gives a get-method that nobody pays for. */
const GAS_LIMIT = 1_000_000;

/**
 * Of all methods of a visit. A contract that counts uses a hundredth of it; one that means to keep the emulator busy is not heard to the end.
 */
const GAS_TOTAL = 1_000_000;

/** A result has the entries of its kind and some more: with too many it costs memory and means nothing. */
const ENTRIES_MAX = 256;

/** What a compiler's code throws for a number that is no method's. */
const NO_METHOD = 11;

/** Gas until code found that out: it looks into its dictionary, which a library may hold. */
const NO_METHOD_GAS_MAX = 2_000n;

/** Runs methods of one account in one visit of the emulator. Rejects as `ContractWorld.runMethods` does. */
export async function visit(world: DetectionWorld, account: AccountId, asks: readonly Ask[]): Promise<Visit> {
  const calls = asks.map(({ method, stack = [] }) => ({ methodId: idOf(method), stack }));
  const { runs } = await world.runMethods({ account, calls, gasLimit: GAS_LIMIT, gasTotal: GAS_TOTAL });
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

/** Compilers' code that has no such method throws 11 at once, with the method's number; a method of its own may throw 11 as well. */
function isAbsent(run: { exitCode: number; gasUsed: bigint; stack: readonly StackEntry[] }, methodId: number): boolean {
  const top = run.stack.at(-1);
  const isSaid = top?.type === 'int' && top.value === BigInt(methodId);
  return run.exitCode === NO_METHOD && run.gasUsed <= NO_METHOD_GAS_MAX && isSaid;
}
