import type { VNode } from 'preact';

import { LabelsProvider, labelsOf, useApplication } from '../context.ts';
import { formatCount, safeText } from '../format.ts';
import { html } from '../html.ts';
import type { Labels, TokenInfo } from '../objects.ts';
import { Address } from '../parts/address.ts';
import { Facts, type Fact } from '../parts/facts.ts';
import { Loaded } from '../parts/loaded.ts';
import { TokenAmount, TokenName } from '../parts/token.ts';
import { useLoad } from '../use-load.ts';
import { words } from '../texts.ts';
import { rawForm } from './address-forms.ts';
import type { Account } from './load-account.ts';
import { Picture } from './picture.ts';

/** Characters of a token's description. */
const DESCRIPTION_MAX = 600;

/** Tokens of one account: an account is seldom more than one. */
const INFOS_MAX = 4;

/** The account as a token: its name, picture and terms. Draws nothing for an account that is none. */
export function TokenFacts({ account }: { readonly account: Account }) {
  const raw = rawForm(account.address);
  const infos = account.labels.metadata?.[raw]?.token_info ?? [];
  return html`${infos.slice(0, INFOS_MAX).map((info, at) => html`<${OneToken} key=${at} info=${info} account=${account} />`)}`;
}

function OneToken({ info, account }: { readonly info: TokenInfo; readonly account: Account }) {
  const names = words.account.token;
  const type = info.type ?? '';
  return html`<section>
    <h2>${names.types(type)}</h2>
    <${Picture} image=${info.image} name=${safeText(info.name ?? '', 60)} />
    <${Facts}
      rows=${[
        [names.name, text(info.name, 200)],
        [names.symbol, text(info.symbol, 60)],
        [names.decimals, text(info.extra?.['decimals'], 10)],
        [names.description, text(info.description, DESCRIPTION_MAX)],
        [names.link, text(info.extra?.['uri'], DESCRIPTION_MAX)],
      ]}
    />
    ${Object.hasOwn(loads, type) ? html`<${Terms} type=${type} account=${account} />` : null}
  </section>`;
}

type Row = Readonly<Record<string, unknown>>;

/** Operation, list and drawing of the terms of each type of token. */
const loads: Readonly<
  Record<
    'jetton_masters' | 'jetton_wallets' | 'nft_items' | 'nft_collections',
    { readonly operation: string; readonly list: string; readonly facts: (row: Row, raw: string) => readonly Fact[] }
  >
> = {
  jetton_masters: {
    operation: 'jetton/masters',
    list: 'jetton_masters',
    facts: (row, raw) => [
      [words.account.token.supply, html`<${TokenAmount} asset=${raw} units=${String(row['total_supply'])} />`],
      [words.account.token.mintable, row['mintable'] === true ? words.parts.yes : words.parts.no],
      [words.account.token.admin, address(row['admin_address'])],
    ],
  },
  jetton_wallets: {
    operation: 'jetton/wallets',
    list: 'jetton_wallets',
    facts: (row) => [
      [words.account.balance, html`<${TokenAmount} asset=${String(row['jetton'])} units=${String(row['balance'])} />`],
      [words.account.token.owner, address(row['owner'])],
      [words.account.token.jetton, html`<${TokenName} address=${String(row['jetton'])} />`],
    ],
  },
  nft_items: {
    operation: 'nft/items',
    list: 'nft_items',
    facts: (row) => [
      [words.account.token.owner, address(row['owner_address'])],
      [words.account.token.realOwner, row['on_sale'] === true ? address(row['real_owner']) : undefined],
      [words.account.token.collection, address(row['collection_address'])],
      [words.account.token.index, text(row['index'], 80)],
      [words.account.token.onSale, row['on_sale'] === true ? words.parts.yes : undefined],
    ],
  },
  nft_collections: {
    operation: 'nft/collections',
    list: 'nft_collections',
    facts: (row) => [
      [words.account.token.owner, address(row['owner_address'])],
      [words.account.token.next, row['next_item_index'] === '-1' ? undefined : countOf(row['next_item_index'])],
    ],
  },
};

type Terms = { readonly row: Row | undefined; readonly labels: Labels };

function Terms({ type, account }: { readonly type: keyof typeof loads; readonly account: Account }) {
  const { api } = useApplication();
  const { operation, list, facts } = loads[type];
  const raw = rawForm(account.address);
  const name = type === 'nft_collections' ? 'collection_address' : 'address';
  const load = useLoad<Terms>(`${type} ${raw}`, async (signal) => {
    const answer = await api.v3<Readonly<Record<string, readonly Row[]>> & Labels>(operation, { [name]: raw }, signal);
    return { row: answer[list]?.[0], labels: answer };
  });
  return html`<${Loaded}
    load=${load}
    draw=${({ row, labels }: Terms) =>
      row === undefined
        ? null
        : html`<${LabelsProvider} value=${labelsOf(account.labels, labels)}><${Facts} rows=${facts(row, raw)} /><//>`}
  />`;
}

const text = (value: unknown, max: number): VNode | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number'
    ? html`<bdi>${safeText(String(value), max)}</bdi>`
    : undefined;

const address = (value: unknown): VNode | undefined =>
  typeof value === 'string' ? html`<${Address} address=${value} />` : undefined;

const countOf = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\d+$/.test(value) ? formatCount(value) : undefined;
