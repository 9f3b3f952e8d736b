import type { Change, JettonChange, Position, StateChange } from '../changes.ts';
import { isAfter, positionOf, steps } from './positions.ts';
import { createRecentKeys } from './recent-keys.ts';

/** Newest final states of accounts and jetton wallets. No older state below `finalized` follows them. */
export type FinalStates = {
  /** Notes the final states among changes. */
  readonly note: (changes: readonly Change[]) => void;
  /**
   * Reports whether a change below `finalized`, or a correction, shows a state that a final one has overtaken.
   * @param until counts final states up to here; absent: all
   */
  readonly isLate: (change: Change, until?: Position | null) => boolean;
};

/** Accounts and wallets whose newest final state is compared: a minute or more of mainnet, some 3 MB. */
const STATES_MAX = 10_000;

export function createFinalStates(): FinalStates {
  /** With the position behind the event. */
  const finals = createRecentKeys<{ readonly lt: bigint; readonly position: Position }>(STATES_MAX);
  return {
    note(changes) {
      for (const change of changes) {
        if (!isState(change) || change.position === null) continue;
        const [name, lt] = [nameOf(change), ltOf(change)];
        const known = finals.get(name);
        if (lt !== null && (known === undefined || known.lt < lt))
          finals.replace(name, { lt, position: positionOf(change.position, steps.last) });
      }
    },
    isLate(change, until) {
      if (!isState(change) || change.position !== null) return false;
      const [final, lt] = [finals.get(nameOf(change)), ltOf(change)];
      if (final === undefined || lt === null) return false;
      if (until !== undefined && (until === null || isAfter(final.position, until))) return false;
      // The last final state again is good in place of states that are void.
      return change.isCorrection === true ? lt < final.lt : lt <= final.lt;
    },
  };
}

export function isState(change: Change): change is StateChange | JettonChange {
  return change.kind === 'state' || change.kind === 'jetton';
}

/** Name of the account or the jetton wallet. */
export function nameOf(change: StateChange | JettonChange): string {
  return `${change.kind} ${change.kind === 'state' ? change.account : change.accounts[0]}`;
}

function ltOf(change: StateChange | JettonChange): bigint | null {
  const { last_transaction_lt: lt } = change.kind === 'state' ? change.state : change.jetton;
  return lt === null ? null : BigInt(lt);
}
