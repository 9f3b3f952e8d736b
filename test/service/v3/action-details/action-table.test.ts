import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { describe, expect, it } from 'vitest';

import { derived } from '#service/v3/action-details/action-derived.ts';
import { scalarKinds } from '#service/v3/action-details/action-fields.ts';
import { supportedBy } from '#service/v3/request/action-parameters.ts';
import { shapes, typeFields, type Field } from '#service/v3/action-details/action-table.ts';
import { supportedTypes } from '#service/v3/request/action-versions.ts';
import { readSettings } from '#service/v3/request/settings.ts';
import { projectRoot } from '#test/style/sources.ts';

type PeerField = {
  readonly name: string;
  readonly type: string;
  readonly column?: string;
  readonly when_null?: string;
};

type PeerTable = { readonly types: Readonly<Record<string, { readonly fields: readonly PeerField[] }>> };

type Versions = { readonly shortcuts: Readonly<Record<string, readonly string[]>> };

const folder = resolve(projectRoot, 'test/vectors/toncenter');

const read = (file: string): unknown => JSON.parse(readFileSync(resolve(folder, file), 'utf8'));

describe('details of actions', () => {
  const all = [...typeFields].flatMap(([type, { fields, variant }]) =>
    [...fields, ...(variant?.fields ?? [])].map((field) => [type, field] as const),
  );
  const inner = [...shapes].flatMap(([name, fields]) => fields.map((field) => [name, field] as const));

  it('are of kinds, shapes and values that there are', () => {
    for (const [type, { name, kind, sources }] of [...all, ...inner]) {
      expect(kind in scalarKinds || shapes.has(kind), `${type}.${name}: ${kind}`).toBe(true);
      for (const { from } of sources) {
        const isThere = from === undefined || 'path' in from || from.derived in derived;
        expect(isThere, `${type}.${name}`).toBe(true);
      }
    }
    expect(all.length).toBeGreaterThan(400);
  });
});

/** Fields with another source than TON Center's column, and the reason. */
const differs: Readonly<Record<string, string>> = {
  'coffee_create_pool.pool_creator_contract': 'a defect put right: it stands in another column',
  'coffee_create_pool_creator.provided_asset': 'a defect put right: it stands in another column',
  'evaa_supply.sender_jetton_wallet': 'a defect put right: it stands in another column',
  'evaa_liquidate.collateral': 'a defect put right: an address where it is known',
  'dex_deposit_liquidity.destination_liquidity': 'one of two columns',
  'nft_purchase.payout_address': 'the real owner',
  'nft_purchase.royalty_address': 'null',
  'tick_tock.account': 'the account itself, which the peer does not name',
};

/** `value_extra_currencies` -> `extraCurrencies`; paths through groups stay. */
function pathOf(column: string): string {
  if (column.includes('.')) return column;
  if (column === 'value_extra_currencies') return 'extraCurrencies';
  return column.replaceAll(/_([a-z])/g, (_found, letter: string) => letter.toUpperCase());
}

/** The paths that a field is read from, those within a shape too. */
function pathsOf({ sources, kind, isList }: Field): Readonly<Record<string, string | undefined>> {
  const [{ from } = { from: undefined }] = sources;
  const own = from === undefined ? '-' : 'derived' in from ? `@${from.derived}` : from.path.join('.');
  const within = isList ? [] : (shapes.get(kind) ?? []);
  const fields = within.map((field) => [`.${field.name}`, `${own}.${pathsOf(field)['']}`] as const);
  return { '': within.length > 0 ? undefined : own, ...Object.fromEntries(fields) };
}

describe('the table of details', () => {
  const { types } = read('action-details.json') as PeerTable;

  it.each(Object.keys(types))('has the fields and columns that TON Center has for %s', (type) => {
    const wanted = types[type]!.fields;
    const known = typeFields.get(type);
    expect(known === undefined).toBe(wanted.length === 0);
    const fields = [...(known?.fields ?? []), ...(known?.variant?.fields ?? [])];
    const added = type === 'delete_dns' ? ['key'] : [];
    expect(fields.map(({ name }) => name).toSorted()).toEqual(
      [...wanted.filter(({ name }) => !name.includes('.')).map(({ name }) => name), ...added].toSorted(),
    );
    const paths = Object.fromEntries(
      fields.flatMap((field) => Object.entries(pathsOf(field)).map(([name, path]) => [`${field.name}${name}`, path])),
    );
    const top = wanted.filter(({ when_null: whenNull, name }) => whenNull !== undefined && !name.includes('.'));
    const omitted = fields.filter(({ absent, name }) => absent === 'omitted' && top.some((one) => one.name === name));
    expect(omitted.map(({ name }) => name).toSorted()).toEqual(
      top.flatMap(({ name, when_null: whenNull }) => (whenNull === 'omitted' ? [name] : [])).toSorted(),
    );
    const told = wanted.filter(({ name, column }) => column !== undefined && differs[`${type}.${name}`] === undefined);
    expect(told.map(({ name }) => [name, paths[name]])).toEqual(
      told.map(({ name, column }) => [name, pathOf(column!)]),
    );
  });
});

describe('the versions of clients', () => {
  const { shortcuts } = read('action-versions.json') as Versions;
  const expand = (name: string): string[] => shortcuts[name]?.flatMap(expand) ?? [name];

  it.each(Object.keys(shortcuts))('%s', (name) => {
    expect([...supportedTypes([name])].toSorted()).toEqual([...new Set([name, 'v1'].flatMap(expand))].toSorted());
  });
});

it('clients that say nothing know the newest types, and every client the first ones', () => {
  expect(supportedTypes([])).toEqual(supportedTypes(['v4']));
  expect(supportedTypes(['tgbtc_mint'])).toEqual(new Set([...supportedTypes(['v1']), 'tgbtc_mint']));
  expect(supportedTypes([]).has('tgbtc_mint')).toBe(false);
  expect(supportedTypes(['tgbtc']).has('tgbtc_mint')).toBe(true);
});

it('clients that say what is neither version nor type know the first ones only', () => {
  const settings = readSettings(() => undefined, new URLSearchParams());
  const byHeader = { settings: { ...settings, actionsVersion: 'v1, v2' } };
  for (const none of ['v1,v2', '\0', 'v9']) {
    const known = supportedBy({ supportedActionTypes: [none] }, { settings });
    expect(known.difference(supportedTypes(['v1']))).toEqual(new Set(none === 'v9' ? ['v9'] : []));
  }
  expect(supportedBy({ supportedActionTypes: ['v4'] }, byHeader)).toEqual(supportedTypes(['v1']));
});
