import { parseBoc } from '../decode/boc.ts';
import { CellSlice } from '../decode/cell-slice.ts';
import { readAccount } from '../decode/tlb/account.ts';
import * as functions from '../liteserver/functions.ts';
import type { Chain, ChainBlock } from './chain.ts';
import type { AccountEdit } from './collator/edits.ts';
import type { AccountPlace } from './collator/missing-account.ts';
import { readMessageDestination } from './message-queries.ts';
import { accountAt } from './snapshots.ts';

/** Another network at one of its blocks: what a private network goes on from. */
export type ForkSource = {
  /** Of the masterchain block. */
  readonly seqno: number;
  readonly utime: number;
  /** Logical time that no account of it has reached. */
  readonly endLt: bigint;
  /** The configuration's dictionary as a bag of cells. */
  readonly config: Buffer;
  /** An account as `ShardAccount`, a bag of cells; with `account_none` when there is none. */
  readonly readAccount: (place: AccountPlace) => Promise<Buffer>;
};

/** Accounts of a forked network, brought over when somebody first asks for them. */
export type ForkedAccounts = {
  /** True for an account of which, when the own chain has none, nobody knows yet whether it is there. */
  isMissing(place: AccountPlace): boolean;
  /** Reads accounts; they are among the `edits` of the next block. Resolves to true when there is one to be brought over. */
  fetch(place: AccountPlace): Promise<boolean>;
  /** Brings an account over, unless that was done, and resolves when a block has it. */
  ensure(place: AccountPlace, step: () => Promise<unknown>): Promise<void>;
  /** Accounts that no block has yet. */
  edits(): readonly AccountEdit[];
  /** A block has these. */
  settle(edits: readonly AccountEdit[]): void;
  /** Accounts that were brought over. */
  readonly count: number;
};

/** Accounts asked for in the life of a fork: some 100 bytes each. */
const KNOWN_MAX = 1_000_000;

export function createForkedAccounts(
  source: ForkSource,
  { chain, head }: { readonly chain: Chain; readonly head: () => ChainBlock },
): ForkedAccounts {
  const known = new Set<string>();
  const fetching = new Map<string, Promise<boolean>>();
  const landing = new Map<string, Promise<unknown>>();
  const ready = new Set<AccountEdit>();
  let count = 0;

  async function bring(place: AccountPlace): Promise<boolean> {
    const boc = parseBoc(await source.readAccount(place));
    if (known.size >= KNOWN_MAX) throw new Error('the fork knows as many accounts as it can');
    known.add(keyOf(place));
    const slice = new CellSlice(boc, boc.roots[0]!);
    const account = slice.ref();
    if (readAccount(boc, account) === undefined) return false;
    const last = { lastTransactionHash: slice.hash(), lastTransactionLt: slice.uint64() };
    ready.add({ ...place, last, edit: (states) => states.import(boc, account) });
    return true;
  }

  const isMissing = (place: AccountPlace): boolean => !known.has(keyOf(place));

  function fetch(place: AccountPlace): Promise<boolean> {
    const key = keyOf(place);
    const running = fetching.get(key) ?? bring(place).finally(() => fetching.delete(key));
    fetching.set(key, running);
    return running;
  }

  return {
    isMissing,
    fetch,
    async ensure(place, step) {
      const key = keyOf(place);
      const running = landing.get(key);
      if (running === undefined && (!isMissing(place) || accountAt(chain, head(), place) !== undefined)) return;
      const landed = running ?? fetch(place).then((isThere) => (isThere ? step() : undefined));
      landing.set(key, landed);
      await landed.finally(() => landing.delete(key));
    },
    edits: () => [...ready],
    settle(edits) {
      for (const edit of edits) if (ready.delete(edit)) count++;
    },
    get count() {
      return count;
    },
  };
}

/** The account that a lite-server query asks about; undefined when it asks about none. */
export function accountAskedFor(request: Buffer): AccountPlace | undefined {
  const fn = functions.functionOf(request);
  switch (fn?.name) {
    case 'getAccountState':
      return functions.getAccountState.decodeArgs(request).account;
    case 'getAccountStatePrunned':
      return functions.getAccountStatePrunned.decodeArgs(request).account;
    case 'runSmcMethod':
      return functions.runSmcMethod.decodeArgs(request).account;
    case 'sendMessage':
      return readMessageDestination(functions.sendMessage.decodeArgs(request).body);
    default:
      return undefined;
  }
}

function keyOf({ workchain, id }: AccountPlace): string {
  return `${workchain}:${id.toString('latin1')}`;
}
