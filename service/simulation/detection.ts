import { formatRawAddress, parseAddress } from '../decode/address.ts';
import { readChangedAccount } from '../interfaces/account-code.ts';
import type { Detected, Detector } from '../interfaces/detector.ts';
import type { SimulatedSnapshot } from '../live/contracts/chain-snapshot.ts';
import { TvmError } from '../tvm/errors.ts';
import type { SimulatedTrace } from './simulate-message.ts';

/** Kinds of contracts among the accounts of a simulated trace. */
export type SimulatedDetection = {
  /**
   * Detects accounts; each is examined once, also by concurrent calls. The result has the order of `accounts`, without those that fit no kind.
   * Rejects as `Detector.detect` does. An account is left out when the TVM fails on its code. By default that is also so when time ends its
   * runs.
   * @param accounts raw addresses, upper-case hex
   */
  detect(accounts: readonly string[]): Promise<ReadonlyMap<string, Detected>>;
  /** True when an account was left out. */
  readonly isIncomplete: boolean;
  /** The chain as the trace leaves it. Detection and other readers share its views of accounts. */
  readonly after: SimulatedSnapshot;
};

export type SimulatedDetectionDependencies = {
  /** The chain before the trace, with the accounts that the simulation overrides. */
  readonly before: SimulatedSnapshot;
  readonly detector: Detector;
  /** True to reject with `tvm_timeout` when time ends a run (`SimulationOptions.rejectsTimeouts`). */
  readonly rejectsTimeouts?: boolean;
};

/** Failures that the code of an account chooses. */
const ofCode: ReadonlySet<string> = new Set(['tvm_crashed', 'tvm_library_unavailable']);

/** Concurrent detections. A trace leaves the TVM's other threads to other callers. */
const LOOKED_INTO_AT_ONCE = 4;

/**
 * Detects kinds by the states that a trace leaves. An account has the state after the trace, or before it when the trace destroys the
 * account.
 */
export function createSimulatedDetection(
  { after: changed }: Pick<SimulatedTrace, 'after'>,
  { before, detector, rejectsTimeouts = false }: SimulatedDetectionDependencies,
): SimulatedDetection {
  const after = before.withAccounts(changed);
  const detections = new Map<string, Promise<Detected | undefined>>();
  let isIncomplete = false;

  async function detectOne(text: string): Promise<Detected | undefined> {
    const address = parseAddress(text);
    if (address === undefined) return undefined;
    const account = { workchain: address.workchain, id: address.id };
    const left = await readChangedAccount(after, account);
    const isDestroyed = left.codeHash === null && changed.has(formatRawAddress(account));
    return isDestroyed
      ? detector.detect(before, await readChangedAccount(before, account))
      : detector.detect(after, left);
  }

  async function detectWithinBudget(text: string): Promise<Detected | undefined> {
    try {
      return await detectOne(text);
    } catch (error) {
      if (!(error instanceof TvmError)) throw error;
      const isLeftOut = error.code === 'tvm_timeout' ? !rejectsTimeouts : ofCode.has(error.code);
      if (!isLeftOut) throw error;
      isIncomplete = true;
      return undefined;
    }
  }

  function detectOnce(text: string): Promise<Detected | undefined> {
    const detection = detections.get(text) ?? detectWithinBudget(text);
    detections.set(text, detection);
    return detection;
  }

  return {
    after,
    get isIncomplete() {
      return isIncomplete;
    },
    async detect(accounts) {
      const different = new Set(accounts);
      const left = different.values();
      const detectNext = async (): Promise<void> => {
        for (const account of left) await detectOnce(account);
      };
      await Promise.all(Array.from({ length: LOOKED_INTO_AT_ONCE }, detectNext));
      const found = new Map<string, Detected>();
      for (const account of different) {
        const detected = await detectOnce(account);
        if (detected !== undefined) found.set(account, detected);
      }
      return found;
    },
  };
}
