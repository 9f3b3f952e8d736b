import { ApiError, type Api } from './api.ts';
import { shardOf } from './block/load-block.ts';
import type { Block, SimulatedTrace, Trace, Transaction } from './objects.ts';
import { paths } from './paths.ts';
import type { SearchForm } from './search.ts';
import { words } from './texts.ts';

/** A thing that a search has found. */
export type Found = { readonly what: string; readonly text: string; readonly href: string };

/** A place where a search looks. Resolves to undefined when the place has no such thing. */
export type Place = { readonly name: string; find(signal: AbortSignal): Promise<Found | undefined> };

const { places } = words.search;

/** Returns the places to look in for a form. */
export function placesOf(api: Api, form: SearchForm): Place[] {
  switch (form.form) {
    case 'address':
      return [{ name: places.account, find: (signal) => account(api, form.address, signal) }];
    case 'hash':
      return hashPlaces(api, form.hash);
    case 'block':
      return [{ name: places.block, find: (signal) => block(api, placeOf(form), signal) }];
    case 'domain':
      return [{ name: places.domain, find: (signal) => domain(api, form.domain, signal) }];
    default:
      return form satisfies never;
  }
}

async function account(api: Api, address: string, signal: AbortSignal): Promise<Found | undefined> {
  const detected = await refusalIsNone(() =>
    api.v2<{ raw_form: string; non_bounceable: { b64url: string } }>('detectAddress', { address }, signal),
  );
  if (detected === undefined) return undefined;
  return { what: places.account, text: address, href: paths.account(address) };
}

function hashPlaces(api: Api, hash: string): Place[] {
  const transactionBy = async (operation: string, name: string, signal: AbortSignal) => {
    const answer = await refusalIsNone(() =>
      api.v3<{ transactions: Transaction[] }>(operation, { [name]: hash, limit: 1 }, signal),
    );
    return answer?.transactions[0];
  };
  return [
    {
      name: places.transaction,
      async find(signal) {
        const found = await transactionBy('transactions', 'hash', signal);
        return found && { what: places.transaction, text: found.hash, href: paths.transaction(found.hash) };
      },
    },
    {
      name: places.trace,
      async find(signal) {
        const answer = await refusalIsNone(() =>
          api.v3<{ traces: Trace[] }>('traces', { msg_hash: hash, limit: 1 }, signal),
        );
        const trace = answer?.traces[0];
        return trace && { what: places.trace, text: trace.trace_id, href: paths.trace(trace.trace_id) };
      },
    },
    {
      name: places.message,
      async find(signal) {
        const found = await transactionBy('transactionsByMessage', 'msg_hash', signal);
        // A message from outside begins a trace: the trace is its page.
        if (found === undefined || found.in_msg?.source === null) return undefined;
        return { what: places.message, text: found.hash, href: paths.transaction(found.hash) };
      },
    },
    {
      name: places.pending,
      async find(signal) {
        const answer = await refusalIsNone(() =>
          api.v3<{ traces: SimulatedTrace[] }>('pendingTraces', { ext_msg_hash: hash }, signal),
        );
        const trace = answer?.traces[0];
        return trace && { what: places.pending, text: hash, href: paths.trace(trace.external_hash ?? hash) };
      },
    },
    { name: places.blockByHash, find: (signal) => block(api, { root_hash: hash }, signal) },
    { name: places.accountById, find: (signal) => accountOfId(api, hash, signal) },
  ];
}

type BlockFilter = Parameters<Api['v3']>[1];

function placeOf({ workchain, shard, seqno, rootHash }: Extract<SearchForm, { form: 'block' }>): BlockFilter {
  return { workchain, shard, seqno, ...(rootHash !== undefined && { root_hash: rootHash }) };
}

async function block(api: Api, filter: BlockFilter, signal: AbortSignal): Promise<Found | undefined> {
  const answer = await refusalIsNone(() => api.v3<{ blocks: Block[] }>('blocks', { ...filter, limit: 1 }, signal));
  const [found] = answer?.blocks ?? [];
  if (found === undefined) return undefined;
  const { workchain, seqno } = found;
  const shard = shardOf(found);
  return {
    what: places.block,
    text: `(${workchain},${shard},${seqno})`,
    href: paths.block(workchain, shard, seqno),
  };
}

/** An address without its workchain: most accounts are in the basechain. */
async function accountOfId(api: Api, id: string, signal: AbortSignal): Promise<Found | undefined> {
  const address = `0:${id}`;
  const answer = await refusalIsNone(() =>
    api.v3<{ accounts: readonly unknown[] }>('accountStates', { address, include_boc: false }, signal),
  );
  if (answer?.accounts[0] === undefined) return undefined;
  return { what: places.account, text: address, href: paths.account(address) };
}

async function domain(api: Api, name: string, signal: AbortSignal): Promise<Found | undefined> {
  const answer = await refusalIsNone(() =>
    api.v3<{ records: { nft_item_address: string; dns_wallet: string | null }[] }>(
      'dns/records',
      { domain: name },
      signal,
    ),
  );
  const record = answer?.records[0];
  const address = record?.dns_wallet ?? record?.nft_item_address;
  return address === undefined ? undefined : { what: places.domain, text: name, href: paths.account(address) };
}

/** A refused parameter or an absent thing is no failure of the search: the place has nothing of that name. */
async function refusalIsNone<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ApiError && [400, 404, 422].includes(error.status)) return undefined;
    throw error;
  }
}
