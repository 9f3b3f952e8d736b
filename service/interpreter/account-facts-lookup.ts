import type { ClassifierTrace } from '../actions/engine/classifier-input.ts';
import { parseAddress } from '../decode/address.ts';
import type { LookUpFacts } from '../interfaces/classify-with-lookups.ts';
import type { Detected } from '../interfaces/detector.ts';
import type { AccountFacts } from '../interfaces/facts.ts';
import { accountKey, accountOfKey } from '../store/account-key.ts';
import { hashKey } from '../store/hash-key.ts';
import {
  readEditsBefore,
  readFacts,
  readStateCodes,
  type FactsPlace,
  type StateCode,
  type StoredTransaction,
} from '../store/interpreted-rows.ts';
import type { InterfaceFactsRow } from '../store/classification-tables.ts';
import type { Store } from '../store/store.ts';
import type { InterpretationVersions } from './options.ts';
import { changedAccount, isActive, isDestroyed, mayHaveBeen, type AccountChange } from './changed-accounts.ts';
import { factsJson, readFactsJson } from './facts-json.ts';
import type { ResilientDetector } from './resilient-detector.ts';

/** An account that changed, and what it is since. */
export type FoundChange = { readonly change: AccountChange; readonly found: Detected };

/** Facts about the accounts of some masterchain blocks, and about the traces that ended in them. */
export type AccountFactsLookup = {
  /** Accounts that changed in the blocks and may be something. */
  readonly detected: readonly FoundChange[];
  readonly facts: readonly InterfaceFactsRow[];
  /**
   * Kind of the account of a transaction in the blocks: after the masterchain block, or before it if the account is gone.
   * Rejects with the signal's reason.
   */
  ofTransaction(stored: Pick<StoredTransaction, 'mc_seqno' | 'account'>): Promise<Detected | undefined>;
  /**
   * Answers requests of classification. An account of the trace has the state after its last transaction in the trace.
   * If that state has no kind, the account has the state before. An account that is only named has its state at the end of the trace.
   * Rejects with the signal's reason.
   *
   * @param changes of all accounts of the trace
   */
  ofTrace(trace: ClassifierTrace, changes: readonly AccountChange[]): LookUpFacts;
};

export type AccountFactsLookupDependencies = {
  readonly store: Pick<Store, 'transaction'>;
  readonly finder: ResilientDetector;
  readonly versions: InterpretationVersions;
};

const noFacts: AccountFacts = {};

/** Position of the first transaction of a change. */
function placeOf({ account, first }: AccountChange): FactsPlace {
  return { account, lt: first.stored.lt };
}

/** True if the account has a kind or facts. Accounts without a kind are not stored: their inspection depends on code that was met before. */
function isSomething({ found }: FoundChange): boolean {
  const { facts, lastTransLt, ...rows } = found;
  return lastTransLt > 0n && Object.keys(facts).length + Object.keys(rows).length > 0;
}

/**
 * @param own changes in the blocks
 * @param earlier changes in other blocks, by traces that ended in these
 */
export async function createAccountFactsLookup(
  own: readonly AccountChange[],
  earlier: readonly AccountChange[],
  { store, finder, versions }: AccountFactsLookupDependencies,
  signal: AbortSignal,
): Promise<AccountFactsLookup> {
  const all = [...own, ...earlier];
  const { codes, stored, edits } = await store.transaction(async ({ query }) => {
    const states = await readStateCodes(
      query,
      all.flatMap((change) => [
        ...(isActive(change) ? [change.last.stateAfter] : []),
        ...(mayHaveBeen(change) ? [change.first.stateBefore] : []),
      ]),
    );
    const places = earlier.map(({ last }) => last.stored);
    return {
      codes: new Map<string, StateCode>(states.map((state) => [hashKey(state.hash), state])),
      stored: places.length === 0 ? [] : await readFacts(query, places, versions.facts),
      edits: own.length === 0 ? [] : await readEditsBefore(query, own.map(placeOf)),
    };
  });
  const editLts = new Map(edits.map((row) => [`${row.lt} ${hashKey(row.account)}`, row.edit_lt]));

  /** A change without a transaction may set an earlier last transaction: facts begin at the change. */
  function afterLt(change: AccountChange): bigint {
    const { account, lt } = placeOf(change);
    const edit = editLts.get(`${lt} ${hashKey(account)}`) ?? 0n;
    return edit > change.first.prevLt ? edit : change.first.prevLt;
  }
  const storedFacts = new Map(stored.map((row) => [`${row.lt} ${hashKey(row.account)}`, row]));
  /** Every question once. */
  const asked = new Map<string, Promise<Detected | undefined>>();

  function once(name: string, ask: () => Promise<Detected | undefined>): Promise<Detected | undefined> {
    const known = asked.get(name) ?? ask();
    asked.set(name, known);
    return known;
  }

  function after(change: AccountChange): Promise<Detected | undefined> {
    if (!isActive(change)) return Promise.resolve(undefined);
    return lookAt(change.mcSeqno, change, change.last.stateAfter);
  }

  /** Before the masterchain block in which it changed. */
  function before(change: AccountChange): Promise<Detected | undefined> {
    const { mcSeqno, first } = change;
    return mcSeqno > 1 ? lookAt(mcSeqno - 1, change, first.stateBefore) : Promise.resolve(undefined);
  }

  function lookAt(mcSeqno: number, change: AccountChange, state: Uint8Array): Promise<Detected | undefined> {
    const code = codes.get(hashKey(state));
    if (code === undefined) return named(mcSeqno, change.account);
    return once(`${mcSeqno} ${hashKey(change.account)}`, () =>
      finder.detect(mcSeqno, changedAccount(change, code), signal),
    );
  }

  function named(mcSeqno: number, account: Uint8Array): Promise<Detected | undefined> {
    const ask = () => finder.detectUnknown(mcSeqno, accountOfKey(account), signal);
    return once(`${mcSeqno} ${hashKey(account)}`, ask);
  }

  const found = await Promise.all(own.map(after));
  const detected = own.flatMap((change, index) => {
    const one = found[index];
    return one === undefined ? [] : [{ change, found: one }];
  });
  const ownByPlace = new Map(own.map((change) => [`${change.mcSeqno} ${hashKey(change.account)}`, change]));

  async function factsAfter(change: AccountChange): Promise<AccountFacts> {
    const row = storedFacts.get(`${change.last.stored.lt} ${hashKey(change.account)}`);
    const known = ownByPlace.get(`${change.mcSeqno} ${hashKey(change.account)}`);
    if (known === undefined && row !== undefined) return readFactsJson(row.facts);
    return (await after(known ?? change))?.facts ?? noFacts;
  }

  return {
    detected,
    facts: detected.filter(isSomething).map(({ change, found: { facts } }) => ({
      account: change.account,
      after_lt: afterLt(change),
      until_lt: change.last.stored.lt,
      facts: factsJson(facts),
      version: versions.facts,
    })),
    async ofTransaction({ mc_seqno: mcSeqno, account }) {
      const change = ownByPlace.get(`${mcSeqno} ${hashKey(account)}`);
      if (change === undefined) return undefined;
      return isDestroyed(change) ? before(change) : after(change);
    },
    ofTrace(trace, changes) {
      const byAccount = Map.groupBy(changes, ({ account }) => hashKey(account));

      async function factsOf(text: string): Promise<AccountFacts> {
        const account = parseAddress(text);
        if (account === undefined) return noFacts;
        const key = accountKey(account);
        if (key.length === 0) return noFacts;
        const last = byAccount.get(hashKey(key))?.at(-1);
        if (last === undefined) return (await named(trace.mcSeqnoEnd, key))?.facts ?? noFacts;
        const facts = await factsAfter(last);
        return Object.keys(facts).length > 0 || !mayHaveBeen(last) ? facts : ((await before(last))?.facts ?? noFacts);
      }

      return async (accounts) => {
        const facts = await Promise.all(accounts.map(async (account) => [account, await factsOf(account)] as const));
        return new Map(facts);
      };
    },
  };
}
