import { oneOf, type Draw } from './draw.ts';
import type { StreamFrame } from './stream-readers.ts';

/** Subscription of a client. */
export type StreamWish = {
  readonly types: readonly string[];
  /** Accounts in the form `workchain:HEX`. */
  readonly addresses: ReadonlySet<string>;
  /** Keys of traces in base64. */
  readonly traces: ReadonlySet<string>;
  readonly minFinality: 'pending' | 'confirmed' | 'finalized';
  readonly finalityScope: 'trace' | 'transaction';
  /** Names of types; none for all actions. */
  readonly actionTypes: readonly string[];
};

const accountTypes = ['transactions', 'actions', 'account_state_change', 'jettons_change'] as const;

const finalities = ['pending', 'confirmed', 'finalized'] as const;

const ADDRESSES_MAX = 8;

const TRACES_MAX = 4;

/** Draws a subscription. @param keys of the newest traces */
export function drawWish(draw: Draw, addresses: readonly string[], keys: readonly string[]): StreamWish {
  const drawn = accountTypes.filter(() => draw(2) === 0);
  const types: string[] = drawn.length > 0 ? drawn : [oneOf(draw, accountTypes)];
  const minFinality = oneOf(draw, finalities);
  const traces = new Set(keys.length > 0 && draw(3) === 0 ? some(draw, keys, TRACES_MAX) : []);
  return {
    types: traces.size > 0 ? [...types, 'trace'] : types,
    addresses: new Set(some(draw, addresses, ADDRESSES_MAX)),
    traces,
    minFinality,
    finalityScope: minFinality === 'finalized' && draw(3) === 0 ? 'transaction' : 'trace',
    actionTypes: draw(4) === 0 ? ['jetton_transfer', 'nft_purchase'] : [],
  };
}

function some(draw: Draw, all: readonly string[], max: number): string[] {
  return Array.from({ length: 1 + draw(max) }, () => oneOf(draw, all));
}

/** Body or message of a subscription. */
export function requestOf(wish: StreamWish): object {
  return {
    types: wish.types,
    addresses: [...wish.addresses],
    trace_external_hash_norms: [...wish.traces],
    min_finality: wish.minFinality,
    finality_scope: wish.finalityScope,
    action_types: wish.actionTypes,
  };
}

type Accounted = { readonly account: string; readonly accounts: readonly string[]; readonly type: string };

/** Reports whether a subscription includes the type of an event, and one of its accounts or its trace. */
export function covers({ types, addresses, traces }: StreamWish, event: StreamFrame): boolean {
  if (!types.includes(event['type'] as string)) return false;
  if (event['type'] === 'trace') return traces.has(event['trace_external_hash_norm'] as string);
  return accountsOf(event).some((few) => few.some((account) => addresses.has(account)));
}

/** Says why an event does not belong to a subscription; undefined for one that does. */
export function strangeness(wish: StreamWish, event: StreamFrame): string | undefined {
  const { type, finality, correction } = event;
  if (type === 'trace_invalidated') return undefined;
  if (!covers(wish, event)) return `${String(type)} was not subscribed to`;
  const isAll = accountsOf(event).every((few) => few.some((account) => wish.addresses.has(account)));
  if (type !== 'trace' && !isAll) return `${String(type)} has a part that was not subscribed to`;
  const isBelow = finalities.indexOf(finality as 'pending') < finalities.indexOf(wish.minFinality);
  if (isBelow) return `${String(type)} at ${String(finality)} is below ${wish.minFinality}`;
  if (correction === true && wish.minFinality === 'finalized') return 'a correction at finalized';
  const names = type === 'actions' ? (event['actions'] as readonly Accounted[]).map((one) => one.type) : [];
  const isFiltered = wish.actionTypes.length > 0 && names.some((name) => !wish.actionTypes.includes(name));
  return isFiltered ? `actions of types ${names.join()}` : undefined;
}

/** Accounts of each object of an event. One of them has to be subscribed to. */
function accountsOf({ type, transactions, actions, account, jetton }: StreamFrame): readonly (readonly string[])[] {
  if (type === 'transactions') return (transactions as readonly Accounted[]).map((one) => [one.account]);
  if (type === 'actions') return (actions as readonly Accounted[]).map((one) => one.accounts);
  if (type === 'account_state_change') return [[account as string]];
  if (type !== 'jettons_change') return [];
  const { address, owner } = jetton as { readonly address: string; readonly owner: string };
  return [[address, owner]];
}
