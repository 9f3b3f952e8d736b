import { formatRawAddress, parseAddress } from '../decode/address.ts';
import { readChangedAccount } from '../interfaces/account-code.ts';
import type { Detected, Detector } from '../interfaces/detector.ts';
import type { ChainSnapshot, SimulatedAccounts } from '../live/contracts/chain-snapshot.ts';
import { TvmError } from '../tvm/errors.ts';
import type { SimulatedTrace } from './simulate-message.ts';

/** Kinds of contracts among the accounts of a simulated trace. */
export type SimulatedDetection = {
  /**
   * Detects accounts; each is examined once. An account that fits no kind is missing.
   * Rejects as `Detector.detect` does. An account is left out when the TVM fails on its code, and when no thread time is left.
   * @param accounts raw addresses, upper-case hex
   */
  detect(accounts: readonly string[]): Promise<ReadonlyMap<string, Detected>>;
  /** True when an account was left out. */
  readonly isIncomplete: boolean;
};

export type SimulatedDetectionDependencies = {
  readonly snapshot: ChainSnapshot;
  readonly detector: Detector;
  /** Accounts in place of the chain's, as in the simulation. */
  readonly overrides?: SimulatedAccounts;
};

/** Failures that the code of an account chooses. */
const ofCode: ReadonlySet<string> = new Set(['tvm_timeout', 'tvm_crashed', 'tvm_library_unavailable']);

/** Concurrent detections. A trace leaves the TVM's other threads to other callers. */
const LOOKED_INTO_AT_ONCE = 4;

/**
 * Detects kinds by the states that a trace leaves. An account has the state after the trace, or before it when the trace destroys the
 * account.
 */
export function createSimulatedDetection(
  { after }: Pick<SimulatedTrace, 'after'>,
  { snapshot, detector, overrides = new Map() }: SimulatedDetectionDependencies,
): SimulatedDetection {
  const before = overrides.size === 0 ? snapshot : snapshot.foresee(overrides);
  const simulated = snapshot.foresee(new Map([...overrides, ...after]));
  const known = new Map<string, Detected | undefined>();
  let isIncomplete = false;

  async function detectOne(text: string): Promise<Detected | undefined> {
    const address = parseAddress(text);
    if (address === undefined) return undefined;
    const account = { workchain: address.workchain, id: address.id };
    const left = await readChangedAccount(simulated, account);
    const isDestroyed = left.codeHash === null && after.has(formatRawAddress(account));
    return isDestroyed
      ? detector.detect(before, await readChangedAccount(before, account))
      : detector.detect(simulated, left);
  }

  async function detectWithinBudget(text: string): Promise<void> {
    try {
      known.set(text, await detectOne(text));
    } catch (error) {
      if (!(error instanceof TvmError) || !ofCode.has(error.code)) throw error;
      known.set(text, undefined);
      isIncomplete = true;
    }
  }

  return {
    get isIncomplete() {
      return isIncomplete;
    },
    async detect(accounts) {
      const left = accounts.filter((account) => !known.has(account)).values();
      const detectNext = async (): Promise<void> => {
        for (const account of left) await detectWithinBudget(account);
      };
      await Promise.all(Array.from({ length: LOOKED_INTO_AT_ONCE }, detectNext));
      return new Map(
        accounts.flatMap((account) => {
          const detected = known.get(account);
          return detected === undefined ? [] : [[account, detected] as const];
        }),
      );
    },
  };
}
