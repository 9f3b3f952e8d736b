import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { accountOfKey } from '#service/store/account-key.ts';
import type { ActionRow } from '#service/store/classification-tables.ts';
import type { Store } from '#service/store/store.ts';
import { recordingDirs } from '#test/support/fixtures.ts';

type Recorded = Readonly<Record<string, { readonly address: string }>>;

/** Names that the recording's driver gave to accounts, by raw addresses in upper case. */
function labels(): ReadonlyMap<string, string> {
  const [folder] = recordingDirs();
  const recorded = JSON.parse(readFileSync(join(folder!, 'accounts.json'), 'utf8')) as Recorded;
  return new Map(Object.entries(recorded).map(([label, { address }]) => [address.toUpperCase(), label]));
}

const byAddress = labels();

/** What the driver calls an account, else the beginning of its address. */
export function labelOf(address: unknown): string {
  if (typeof address !== 'string') return '-';
  return byAddress.get(address) ?? address.slice(0, 8);
}

/** The same of a stored key. */
export function labelOfKey(key: Uint8Array | null): string {
  if (key === null) return '-';
  const { workchain, id } = accountOfKey(key);
  return labelOf(`${workchain}:${id.toString('hex').toUpperCase()}`);
}

type Shown = Pick<ActionRow, 'type' | 'success' | 'columns'>;

/** Actions of some types, in the order in which they ended, one line each: what happened between whom, with amounts and what `further` names of its data. */
export async function classifiedActions(store: Store, types: readonly string[]): Promise<readonly string[]> {
  const rows = await store.read<Shown>(
    `SELECT type, success, columns FROM actions WHERE type = ANY ($1)
     ORDER BY trace_end_lt, trace_id, end_lt, columns->>'destination', columns->>'amount'`,
    [types],
  );
  return rows.map(lineOf);
}

function lineOf({ type, success, columns }: Shown): string {
  const { source, destination, destinationSecondary, amount, data } = columns;
  const groups = Object.values((data ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>>>>);
  const details: Readonly<Record<string, unknown>> = Object.assign({}, ...groups);
  const shown = ['query_id', 'comment', 'nft_item_index', 'value_schema', 'order_seqno', 'signer_index']
    .filter((name) => details[name] !== undefined)
    .map((name) => `${name}=${String(details[name])}`);
  const parts = [
    `${labelOf(source)} > ${labelOf(destination)}`,
    ...(destinationSecondary === undefined ? [] : [labelOf(destinationSecondary)]),
    ...(typeof amount === 'string' ? [amount] : []),
    ...shown,
    ...(success ? [] : ['failed']),
  ];
  return `${type} ${parts.join(' ')}`;
}
