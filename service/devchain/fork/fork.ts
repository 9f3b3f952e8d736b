import type { BlockId } from '#service/decode/block-id.ts';
import type { Boc } from '#service/decode/boc.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import { functionOf } from '#service/liteserver/function-table.ts';
import * as functions from '#service/liteserver/functions.ts';
import type { Chain, ChainBlock } from '../chain/chain.ts';
import type { AccountEdit } from '../collator/state-edits.ts';
import type { AccountPlace } from '../collator/missing-account.ts';
import { forkUnreachable } from '../chain/errors.ts';
import { readMessageDestination } from '../queries/message-queries.ts';
import { accountAt } from '../chain/snapshots.ts';

/** Origin of a private network: another network, and a masterchain block of it. */
export type ForkPoint = { readonly zeroState: BlockId; readonly block: BlockId };

/** Another network at a block from which a private network continues. */
export type ForkSource = ForkPoint & {
  /** Reads the initial content of a new network. */
  readonly readBeginning: () => Promise<ForkGenesis>;
  /**
   * Reads an account as `ShardAccount`, a bag of cells; `account_none` when there is none. Rejects when the other network does not answer.
   */
  readonly readAccount: (place: AccountPlace) => Promise<Buffer>;
  /**
   * Reads a public library's cell, as a bag of cells. Undefined when no library has this hash. Rejects when the other network does not
   * answer.
   */
  readonly readLibrary: (hash: Buffer) => Promise<Buffer | undefined>;
};

export type ForkGenesis = {
  readonly utime: number;
  /** Logical time that no account of the other network has reached. */
  readonly endLt: bigint;
  /** The configuration's dictionary as a bag of cells. */
  readonly config: Buffer;
};

/** An account that the other network was asked for. */
export type AskedAccount = AccountPlace & {
  /** False when the other network has no such account. */
  readonly isThere: boolean;
};

/** Requests of a stored fork to the other network. */
export type OriginReads = {
  readonly accounts: readonly AskedAccount[];
  /** Hashes of libraries that the other network does not have. */
  readonly absentLibraries: readonly Buffer[];
};

/** Accounts of a forked network, fetched on first use. */
export type ForkedAccounts = {
  /** True for an account that must still be requested or added, when the own chain has none. */
  isMissing(place: AccountPlace): boolean;
  /**
   * Reads an account and the libraries that it names, and adds it to the `edits` of the next block. Resolves to true when an account was
   * found.
   * @throws DevchainError `fork_unreachable`
   */
  fetch(place: AccountPlace): Promise<boolean>;
  /** Brings an account over, unless that was done, and resolves when a block has it. */
  ensure(place: AccountPlace, step: () => Promise<unknown>): Promise<void>;
  /** Accounts that no block has yet. */
  edits(): readonly AccountEdit[];
  /** Returns the places of a block's edits that add fetched accounts. */
  broughtBy(edits: readonly AccountEdit[]): readonly AccountPlace[];
  /** Records that the masterchain block `seqno`, or a shard block that it includes, has these edits. */
  settle(edits: readonly AccountEdit[], seqno: number): void;
  /**
   * Returns accounts fetched in masterchain blocks after `seqno`, as the other network has them.
   * @throws DevchainError `fork_unreachable` when an account's copy was evicted and it cannot be read again
   */
  originals(seqno: number): Promise<readonly OriginalAccount[]>;
  /** Accounts that were brought over. */
  readonly count: number;
};

/** An account of the other network, and the edit that puts it into a state. */
export type OriginalAccount = Required<AccountEdit>;

/** Accounts asked for in the life of a fork: some 100 bytes each. */
const KNOWN_MAX = 1_000_000;

export type ForkedAccountsDependencies = {
  readonly chain: Chain;
  readonly head: () => ChainBlock;
  /** Accounts that the blocks of the chain have, and accounts found missing. */
  readonly asked: readonly AskedAccount[];
  /** Records that the other network has no such account. */
  readonly keepAbsent: (place: AccountPlace) => void;
  /** Most bytes of cached original accounts. */
  readonly originalBytesMax: number;
  /** Brings over what library cells of a bag name (`ForkedLibraries.fetch`). */
  readonly fetchLibraries: (bag: Boc) => Promise<void>;
};

export function createForkedAccounts(
  source: ForkSource,
  { chain, head, asked, keepAbsent, originalBytesMax, fetchLibraries }: ForkedAccountsDependencies,
): ForkedAccounts {
  const known = new Set(asked.map(keyOf));
  const fetching = new Map<string, Promise<boolean>>();
  const landing = new Map<string, Promise<unknown>>();
  const ready = new Map<string, { readonly edit: OriginalAccount; readonly bag: Buffer }>();
  /** Fetched accounts in the order of their blocks. The oldest have no bag. */
  const brought: { readonly place: AccountPlace; readonly seqno: number; bag: Buffer | undefined }[] = [];
  let [bufferedBytes, firstHeld] = [0, 0];
  let count = asked.filter(({ isThere }) => isThere).length;

  async function read(place: AccountPlace): Promise<Buffer> {
    return await source.readAccount(place).catch((error: unknown) => {
      throw forkUnreachable(`account ${place.workchain}:${place.id.toString('hex')}`, error);
    });
  }

  async function bring(place: AccountPlace): Promise<boolean> {
    const bag = await read(place);
    if (known.size >= KNOWN_MAX) throw new Error('the fork knows as many accounts as it can');
    const edit = openOriginal(place, bag);
    if (edit === undefined) {
      keepAbsent(place);
      known.add(keyOf(place));
      return false;
    }
    await fetchLibraries(parseBoc(bag));
    ready.set(keyOf(place), { edit, bag });
    return true;
  }

  function hold(place: AccountPlace, bag: Buffer, seqno: number): void {
    brought.push({ place, seqno, bag });
    for (bufferedBytes += bag.length; bufferedBytes > originalBytesMax; firstHeld++) {
      const oldest = brought[firstHeld]!;
      bufferedBytes -= oldest.bag!.length;
      oldest.bag = undefined;
    }
  }

  const isMissing = (place: AccountPlace): boolean => !known.has(keyOf(place));

  async function fetch(place: AccountPlace): Promise<boolean> {
    const key = keyOf(place);
    if (ready.has(key)) return true;
    const running = fetching.get(key) ?? bring(place).finally(() => fetching.delete(key));
    fetching.set(key, running);
    return await running;
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
    edits: () => [...ready.values()].map(({ edit }) => edit),
    broughtBy: (edits) => edits.filter((edit) => ready.get(keyOf(edit))?.edit === edit),
    settle(edits, seqno) {
      for (const edit of edits) {
        const key = keyOf(edit);
        const one = ready.get(key);
        if (one?.edit !== edit) continue;
        ready.delete(key);
        // Not earlier: a block that was begun without the account would treat it as missing.
        known.add(key);
        count++;
        hold({ workchain: edit.workchain, id: edit.id }, one.bag, seqno);
      }
    },
    async originals(seqno) {
      const originals: OriginalAccount[] = [];
      for (const { place, bag } of brought.filter((one) => one.seqno > seqno)) {
        originals.push(openOriginal(place, bag ?? (await read(place)))!);
      }
      return originals;
    },
    get count() {
      return count;
    },
  };
}

/** @param bag a `ShardAccount`; undefined when it has no account */
function openOriginal(place: AccountPlace, bag: Buffer): OriginalAccount | undefined {
  const boc = parseBoc(bag);
  const slice = new CellSlice(boc, boc.roots[0]!);
  const account = slice.ref();
  if (readAccount(boc, account) === undefined) return undefined;
  const last = { lastTransactionHash: slice.hash(), lastTransactionLt: slice.uint64() };
  return { ...place, last, edit: (states) => states.import(boc, account) };
}

/** Returns the account of a lite-server query; undefined when there is none. */
export function accountAskedFor(request: Buffer): AccountPlace | undefined {
  const fn = functionOf(request);
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

/** Returns external content of a lite-server query: the bag of a message. */
export function bagSentBy(request: Buffer): Boc | undefined {
  if (functionOf(request)?.name !== 'sendMessage') return undefined;
  try {
    return parseBoc(functions.sendMessage.decodeArgs(request).body, { rootLevelMax: 3 });
  } catch {
    return undefined;
  }
}

function keyOf({ workchain, id }: AccountPlace): string {
  return `${workchain}:${id.toString('latin1')}`;
}

/** Returns the part of a source that is stored with the network. */
export function pointOf({ zeroState, block }: ForkSource): ForkPoint {
  return { zeroState, block };
}
