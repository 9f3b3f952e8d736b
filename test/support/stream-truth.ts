import { printOf } from './json-print.ts';
import {
  nameOfJettons,
  printOfJetton,
  printOfTrace,
  seqnoOf,
  type ChangingClient,
  type FinalEvent,
  type StreamPlace,
  type TraceContent,
} from './changing-client.ts';
import { askAll, type StreamScene } from './stream-scene.ts';
import type { StreamWish } from './stream-wishes.ts';

/** An object of v3 that a final event shows. */
export type TruePart = {
  readonly type: 'transactions' | 'actions' | 'account_state_change' | 'jettons_change';
  readonly seqno: number;
  readonly accounts: readonly string[];
  readonly print: string;
  /** Type of an action; empty for others. */
  readonly action: string;
};

/** Content of v3 for a range of masterchain blocks. */
export type StreamTruth = {
  readonly parts: readonly TruePart[];
  /** Blocks of the states of jetton wallets, by their prints. */
  readonly jettons: ReadonlyMap<string, number>;
  readonly transactions: number;
  /** Types of actions, with their numbers. */
  readonly actionTypes: ReadonlyMap<string, number>;
};

/** Final events that a client lacks, has twice, or has otherwise than v3. */
export type FinalFaults = {
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly foreign: readonly string[];
};

export type TruthRange = {
  /** Masterchain blocks, the first and the last one. */
  readonly from: number;
  readonly to: number;
  readonly addresses: readonly string[];
};

type Json = Readonly<Record<string, unknown>>;
type Transaction = Json & { readonly account: string; readonly lt: string; readonly hash: string };
type Action = Json & { readonly accounts: readonly string[]; readonly type: string };
type Wallet = Json & { readonly address: string; readonly owner: string };

/** Addresses in one request. */
const ADDRESSES_AT_ONCE = 100;

/** Reads all objects of v3 that events of some accounts show, block by block. */
export async function readTruth({ ask }: Pick<StreamScene, 'ask'>, range: TruthRange): Promise<StreamTruth> {
  const addresses = new Set(range.addresses);
  const wallets = await readWallets(ask, range.addresses);
  const parts: TruePart[] = [];
  const jettons = new Map<string, number>();
  const actionTypes = new Map<string, number>();
  let transactions = 0;
  for (let seqno = range.from; seqno <= range.to; seqno++) {
    const found = await askAll<Transaction>(ask, `transactions?mc_seqno=${seqno}`, 'transactions');
    const ours = found.filter(({ account }) => addresses.has(account));
    transactions += found.length;
    const add = (type: TruePart['type'], accounts: readonly string[], print: string, action = ''): void =>
      void parts.push({ type, seqno, accounts, print, action });
    for (const one of ours) add('transactions', [one.account], printOf(one));
    for (const last of lastOfAccounts(ours)) {
      const { account } = last;
      add('account_state_change', [account], printOf([account, stateAfter(last)]));
      const wallet = wallets.get(account);
      if (wallet === undefined) continue;
      add('jettons_change', [account, wallet.owner], nameOfJettons(account, seqno));
      jettons.set(printOfWallet(wallet, last), seqno);
    }
    for (const one of await askAll<Action>(ask, `actions?mc_seqno=${seqno}&include_accounts=true`, 'actions')) {
      if (!one.accounts.some((account) => addresses.has(account))) continue;
      add('actions', one.accounts, printOf(one), one.type);
      actionTypes.set(one.type, (actionTypes.get(one.type) ?? 0) + 1);
    }
  }
  return { parts, jettons, transactions, actionTypes };
}

async function readWallets(ask: StreamScene['ask'], addresses: readonly string[]): Promise<Map<string, Wallet>> {
  const wallets = new Map<string, Wallet>();
  for (let at = 0; at < addresses.length; at += ADDRESSES_AT_ONCE) {
    const asked = addresses.slice(at, at + ADDRESSES_AT_ONCE).map((one) => `address=${one}`);
    const some = await askAll<Wallet>(ask, `jetton/wallets?${asked.join('&')}`, 'jetton_wallets');
    for (const one of some) wallets.set(one.address, one);
  }
  return wallets;
}

function lastOfAccounts(transactions: readonly Transaction[]): readonly Transaction[] {
  const last = new Map<string, Transaction>();
  for (const one of transactions) {
    const before = last.get(one.account);
    if (before === undefined || BigInt(before.lt) < BigInt(one.lt)) last.set(one.account, one);
  }
  return [...last.values()];
}

function stateAfter({ account_state_after: state, lt, hash }: Transaction): object {
  return { ...(state as Json), last_transaction_lt: lt, last_transaction_hash: hash };
}

function printOfWallet(wallet: Wallet, { account_state_after: state, lt }: Transaction): string {
  const { code_hash, data_hash } = state as Json;
  return printOfJetton({ ...wallet, last_transaction_lt: lt, code_hash, data_hash });
}

/** Says in which order the parts became final. Two clients that watch all accounts witness it, the second one at `finality_scope: transaction`. */
export type StreamOrder = {
  /** Faults of the witnesses themselves. */
  readonly faults: FinalFaults;
  /** Compares a client with v3, period by period. */
  readonly compare: (client: Pick<ChangingClient, 'periods' | 'finals'>) => FinalFaults;
};

type Placed = TruePart & { readonly place: StreamPlace };

type Witnesses = Readonly<Record<StreamWish['finalityScope'], Pick<ChangingClient, 'finals'>>>;

/** @param until place of the end: events behind it are not compared */
export function createStreamOrder(
  { parts, jettons }: StreamTruth,
  witnesses: Witnesses,
  until: StreamPlace,
): StreamOrder {
  const faults = { lost: [] as string[], doubled: [] as string[], foreign: [] as string[] };
  /** Parts by their type and account, in their order. */
  const byKey = { trace: new Map<string, Placed[]>(), transaction: new Map<string, Placed[]>() };
  for (const scope of ['trace', 'transaction'] as const) {
    const places = new Map<string, StreamPlace>();
    const wanted = new Map(parts.map((part) => [nameOf(part.type, part.print), part]));
    for (const event of witnesses[scope].finals) {
      for (const print of event.place > until ? [] : event.prints) {
        const name = nameOf(event.type, print);
        if (places.has(name)) faults.doubled.push(`witness: ${name}`);
        if (!wanted.has(name)) faults.foreign.push(`witness: ${name}`);
        places.set(name, event.place);
      }
    }
    for (const [name, part] of wanted) {
      const place = places.get(name);
      if (place === undefined) faults.lost.push(`witness of ${scope}: block ${part.seqno}: ${name}`);
      else addPlaced(byKey[scope], { ...part, place });
    }
    for (const list of byKey[scope].values()) list.sort((one, other) => one.place - other.place);
  }
  return {
    faults,
    compare({ periods, finals }) {
      const wanted = new Map<string, Placed>();
      for (const [at, { wish, from }] of periods.entries()) {
        const to = periods[at + 1]?.from ?? until;
        for (const part of wantedOf(byKey[wish.finalityScope], wish, from, Math.min(to, until)))
          wanted.set(`${nameOf(part.type, part.print)} at ${part.place}`, part);
      }
      const ours = finals.filter(({ type, place }) => type !== 'trace' && place <= until);
      const { lost, doubled, foreign } = faultsOf(wanted, ours);
      // An event shows the newest state of a wallet, which may be that of a later block.
      const old = ours.filter(({ jetton, place }) => jetton !== '' && (jettons.get(jetton) ?? 0) < seqnoOf(place));
      return { lost, doubled, foreign: [...foreign, ...old.map(({ prints }) => `state of ${prints[0]}`)] };
    },
  };
}

const nameOf = (type: string, print: string): string => `${type} ${print}`;

function addPlaced(byKey: Map<string, Placed[]>, part: Placed): void {
  for (const account of part.accounts) {
    const key = nameOf(part.type, account);
    const list = byKey.get(key);
    if (list === undefined) byKey.set(key, [part]);
    else list.push(part);
  }
}

function* wantedOf(
  byKey: ReadonlyMap<string, readonly Placed[]>,
  { types, addresses, actionTypes }: StreamWish,
  from: StreamPlace,
  to: StreamPlace,
): Generator<Placed> {
  for (const type of types) {
    for (const address of addresses) {
      const list = byKey.get(nameOf(type, address)) ?? [];
      for (let at = firstBehind(list, from); at < list.length && list[at]!.place <= to; at++) {
        const part = list[at]!;
        if (type !== 'actions' || actionTypes.length === 0 || actionTypes.includes(part.action)) yield part;
      }
    }
  }
}

function firstBehind(list: readonly Placed[], place: StreamPlace): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]!.place > place) high = middle;
    else low = middle + 1;
  }
  return low;
}

function faultsOf(wanted: ReadonlyMap<string, Placed>, finals: readonly FinalEvent[]): FinalFaults {
  const seen = new Set<string>();
  const doubled: string[] = [];
  const foreign: string[] = [];
  let last = -1;
  for (const { type, place, prints } of finals) {
    if (place < last) foreign.push(`${type} at ${place} comes after ${last}`);
    last = place;
    for (const print of prints) {
      const name = `${nameOf(type, print)} at ${place}`;
      if (seen.has(name)) doubled.push(name);
      if (!wanted.has(name)) foreign.push(name);
      seen.add(name);
    }
  }
  const lost = [...wanted].flatMap(([name, { seqno }]) => (seen.has(name) ? [] : [`block ${seqno}: ${name}`]));
  return { lost, doubled, foreign };
}

/** A complete trace of v3. */
type TrueTrace = {
  /** Masterchain block of its end. */
  readonly seqno: number;
  /** @param actionTypes types of the actions that are printed; none for all */
  readonly print: (actionTypes: readonly string[]) => string;
};

/** Reads a trace by its key; undefined for one that has no end. */
export type TraceReader = (key: string) => Promise<TrueTrace | undefined>;

/**
 * Compares the final traces that a client was shown, and those that it should have been shown.
 * @param until last masterchain block
 */
export async function compareTraces(
  { periods, finals }: Pick<ChangingClient, 'periods' | 'finals'>,
  traceOf: TraceReader,
  until: number,
): Promise<FinalFaults> {
  const faults = { lost: [] as string[], doubled: [] as string[], foreign: [] as string[] };
  const found = new Set<string>();
  for (const { trace, prints, actionTypes } of finals.filter(({ type, isWhole }) => type === 'trace' && isWhole)) {
    if (found.has(trace)) faults.doubled.push(`trace ${trace}`);
    found.add(trace);
    const wanted = (await traceOf(trace))?.print(actionTypes);
    if (wanted !== prints[0]) faults.foreign.push(`trace ${trace}: ${prints[0]} instead of ${wanted}`);
  }
  for (const [at, { wish, from, isResumed }] of periods.entries()) {
    const next = periods[at + 1];
    // A trace of before is shown at once, but the next subscription may come first.
    const first = next === undefined && !isResumed ? 0 : seqnoOf(from) + 1;
    const last = next === undefined ? until : seqnoOf(next.from) - 1;
    for (const key of wish.traces) {
      const seqno = (await traceOf(key))?.seqno ?? Infinity;
      if (seqno >= first && seqno <= last && !found.has(key)) faults.lost.push(`trace ${key} of block ${seqno}`);
    }
  }
  return faults;
}

type Trace = TraceContent & {
  readonly mc_seqno_end: string;
  readonly trace_info: { readonly trace_state: string };
};

/** Reads traces of v3, each once. */
export function createTraceReader({ ask }: Pick<StreamScene, 'ask'>): TraceReader {
  const known = new Map<string, ReturnType<TraceReader>>();
  async function read(key: string): ReturnType<TraceReader> {
    const path = `traces?msg_hash=${encodeURIComponent(key)}&include_actions=true`;
    const [trace] = (await ask<{ readonly traces: readonly Trace[] }>(path)).traces;
    if (trace?.trace_info.trace_state !== 'complete') return undefined;
    return { print: (actionTypes) => printOfTrace(trace, actionTypes), seqno: Number(trace.mc_seqno_end) };
  }
  return (key) => {
    const there = known.get(key) ?? read(key);
    known.set(key, there);
    return there;
  };
}
