/** A page of the explorer with what its path names. */
export type Route =
  | { readonly page: 'home' }
  | { readonly page: 'config' }
  | { readonly page: 'emulate' }
  | { readonly page: 'network' }
  | { readonly page: 'search'; readonly text: string }
  | { readonly page: 'account'; readonly address: string; readonly tab: string }
  /** `transaction`: hash of the transaction that the picture selects. */
  | { readonly page: 'trace'; readonly hash: string; readonly transaction?: string }
  | { readonly page: 'transaction'; readonly hash: string }
  | { readonly page: 'block'; readonly workchain: number; readonly shard: string; readonly seqno: number }
  | { readonly page: 'unknown'; readonly path: string };

const root = '/explorer';

/** Links of the explorer: the only place that builds a path. */
export const paths = {
  home: root,
  config: `${root}/config`,
  emulate: `${root}/emulate`,
  network: `${root}/network`,
  search: (text: string): string => `${root}/search?q=${encodeURIComponent(text)}`,
  account: (address: string, tab?: string): string =>
    `${root}/account/${encodeURIComponent(address)}${tab === undefined ? '' : `?tab=${encodeURIComponent(tab)}`}`,
  /** @param transaction hash of the transaction that the picture selects */
  trace: (hash: string, transaction?: string): string =>
    `${root}/trace/${encodeURIComponent(hash)}${transaction === undefined ? '' : `?tx=${encodeURIComponent(transaction)}`}`,
  transaction: (hash: string): string => `${root}/tx/${encodeURIComponent(hash)}`,
  /** @param shard 16 hexadecimal digits */
  block: (workchain: number, shard: string, seqno: number): string => `${root}/block/${workchain}:${shard}:${seqno}`,
};

/** Reads the path and the query of a location. */
export function parseRoute(pathname: string, query: string): Route {
  const unknown: Route = { page: 'unknown', path: pathname };
  if (pathname !== root && !pathname.startsWith(`${root}/`)) return unknown;
  const parts = pathname
    .slice(root.length)
    .split('/')
    .filter((part) => part !== '');
  const [name, given, ...further] = parts;
  const value = decoded(given);
  if (further.length > 0 || value === undefined) return unknown;
  const parameters = new URLSearchParams(query);
  switch (name) {
    case undefined:
      return { page: 'home' };
    case 'config':
    case 'emulate':
    case 'network':
      return given === undefined ? { page: name } : unknown;
    case 'search':
      return { page: 'search', text: parameters.get('q') ?? '' };
    case 'account':
      return value === '' ? unknown : { page: 'account', address: value, tab: parameters.get('tab') ?? 'actions' };
    case 'trace':
      return value === '' ? unknown : traceOf(value, parameters.get('tx'));
    case 'tx':
      return value === '' ? unknown : { page: 'transaction', hash: value };
    case 'block':
      return blockOf(value) ?? unknown;
    default:
      return unknown;
  }
}

function traceOf(hash: string, transaction: string | null): Route {
  return { page: 'trace', hash, ...(transaction !== null && { transaction }) };
}

const blockForm = /^(-?\d{1,10}):([0-9a-f]{16}):(\d{1,10})$/i;

/** v3 takes signed numbers of 32 bits. The page of a block also asks for the next one. */
const SEQNO_MAX = 2 ** 31 - 2;

/** `(wc,shard,seqno)` in the explorer's form `wc:shard:seqno`. */
function blockOf(text: string): Route | undefined {
  const [, workchain, shard, seqno] = blockForm.exec(text) ?? [];
  if (workchain === undefined || shard === undefined || Number(seqno) > SEQNO_MAX) return undefined;
  if (Number(workchain) !== (Number(workchain) | 0)) return undefined;
  return { page: 'block', workchain: Number(workchain), shard: shard.toLowerCase(), seqno: Number(seqno) };
}

/** Undefined for an escape that is no UTF-8. */
function decoded(text = ''): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
