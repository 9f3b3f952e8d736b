import { useEffect } from 'preact/hooks';

import { useApplication } from '../context.ts';
import { safeText, shorten } from '../format.ts';
import { html } from '../html.ts';
import type { Action, Labels, Transaction } from '../objects.ts';
import { ActionTable } from '../parts/action-row.ts';
import { Address } from '../parts/address.ts';
import { Paged } from '../parts/paged.ts';
import { TokenAmount, TokenName } from '../parts/token.ts';
import { TransactionTable } from '../parts/transaction-row.ts';
import { useLabels } from '../context.ts';
import { useRows } from '../use-rows.ts';
import { words } from '../texts.ts';
import { Picture } from './picture.ts';

/** Rows of a page. */
const PAGE = 25;

/** Properties of each list. `turn` rises when the list may have new rows. */
export type ListProps = { readonly raw: string; readonly turn: number };

/** A list of v3 about an account, by pages; loads the first page again with each new `turn`. */
function useList<R>(
  { turn }: ListProps,
  operation: string,
  list: string,
  query: Readonly<Record<string, string | number | boolean>>,
  idOf: (row: R) => string,
) {
  const { api } = useApplication();
  const paged = useRows<R>(
    `${operation} ${JSON.stringify(query)}`,
    async (cursor, signal) => {
      const { answer, next } = await api.v3Page<Readonly<Record<string, readonly R[]>> & Labels>(
        operation,
        { ...query, limit: PAGE, cursor },
        signal,
      );
      return { rows: answer[list] ?? [], labels: answer, next };
    },
    idOf,
  );
  useEffect(() => {
    if (turn > 0) paged.first.reload();
  }, [turn]);
  return paged;
}

export function ActionsTab(props: ListProps) {
  const paged = useList<Action>(
    props,
    'actions',
    'actions',
    { account: props.raw, sort: 'desc' },
    ({ action_id: id }) => id,
  );
  return html`<${Paged}
    paged=${paged}
    none=${words.account.noActions}
    draw=${(rows: readonly Action[]) =>
      html`<${ActionTable} actions=${rows} caption=${words.account.tabs.actions} isNew=${paged.isNew} />`}
  />`;
}

export function TransactionsTab(props: ListProps) {
  const paged = useList<Transaction>(
    props,
    'transactions',
    'transactions',
    { account: props.raw, sort: 'desc' },
    ({ hash }) => hash,
  );
  return html`<${Paged}
    paged=${paged}
    none=${words.account.noTransactions}
    draw=${(rows: readonly Transaction[]) =>
      html`<div class="scroll">
        <${TransactionTable}
          transactions=${rows}
          caption=${words.account.tabs.transactions}
          withAccount=${false}
          isNew=${paged.isNew}
        />
      </div>`}
  />`;
}

type JettonWallet = { readonly address: string; readonly balance: string; readonly jetton: string };

export function TokensTab(props: ListProps) {
  const paged = useList<JettonWallet>(
    props,
    'jetton/wallets',
    'jetton_wallets',
    { owner_address: props.raw },
    ({ address }) => address,
  );
  return html`<${Paged}
    paged=${paged}
    none=${words.account.noTokens}
    draw=${(rows: readonly JettonWallet[]) =>
      html`<table class="rows quiet">
        <caption>
          ${words.account.tabs.tokens}
        </caption>
        <thead>
          <tr>
            <th scope="col">${words.account.token.jetton}</th>
            <th scope="col">${words.account.balance}</th>
            <th scope="col">${words.account.token.wallet}</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ({ address, balance, jetton }) =>
              html`<tr key=${address}>
                <td><${TokenName} address=${jetton} /></td>
                <td><${TokenAmount} asset=${jetton} units=${balance} /></td>
                <td><${Address} address=${address} /></td>
              </tr>`,
          )}
        </tbody>
      </table>`}
  />`;
}

type Item = {
  readonly address: string;
  readonly index: string;
  readonly collection_address: string | null;
  readonly on_sale: boolean;
};

export function ItemsTab(props: ListProps) {
  const paged = useList<Item>(props, 'nft/items', 'nft_items', { owner_address: props.raw }, ({ address }) => address);
  return html`<${Paged}
    paged=${paged}
    none=${words.account.noItems}
    draw=${(rows: readonly Item[]) => html`<${ItemTable} items=${rows} />`}
  />`;
}

function ItemTable({ items }: { readonly items: readonly Item[] }) {
  const { metadata } = useLabels();
  return html`<table class="rows quiet">
    <caption>
      ${words.account.tabs.items}
    </caption>
    <thead>
      <tr>
        <th scope="col">${words.account.token.item}</th>
        <th scope="col">${words.account.token.collection}</th>
        <th scope="col">${words.account.token.index}</th>
        <th scope="col">${words.account.token.address}</th>
      </tr>
    </thead>
    <tbody>
      ${items.map((item) => {
        const info = metadata[item.address]?.token_info?.[0];
        const index = safeText(item.index, 80);
        return html`<tr key=${item.address}>
          <td>
            <${Picture} image=${info?.image} name=${safeText(info?.name ?? '', 60)} />
            <${TokenName} address=${item.address} />
            ${item.on_sale ? html` <span class="faint">${words.account.token.onSale}</span>` : null}
          </td>
          <td>${item.collection_address === null ? '–' : html`<${TokenName} address=${item.collection_address} />`}</td>
          <td class="mono" title=${index}>${shorten(index, 10, 6)}</td>
          <td><${Address} address=${item.address} /></td>
        </tr>`;
      })}
    </tbody>
  </table>`;
}

type DnsRecord = {
  readonly nft_item_address: string;
  readonly domain: string;
  readonly dns_wallet: string | null;
  readonly dns_next_resolver: string | null;
};

export function NamesTab(props: ListProps) {
  const paged = useList<DnsRecord>(
    props,
    'dns/records',
    'records',
    { wallet: props.raw },
    ({ nft_item_address: item, domain }) => `${item} ${domain}`,
  );
  return html`<p class="faint">${words.account.namesHint}</p>
    <${Paged}
      paged=${paged}
      none=${words.account.noNames}
      draw=${(rows: readonly DnsRecord[]) =>
        html`<table class="rows quiet">
          <caption>
            ${words.account.tabs.names}
          </caption>
          <thead>
            <tr>
              <th scope="col">${words.account.domain}</th>
              <th scope="col">${words.account.token.item}</th>
            </tr>
          </thead>
          <tbody>
            ${rows.map(
              ({ domain, nft_item_address: item }) =>
                html`<tr key=${item}>
                  <td><bdi>${safeText(domain, 130)}</bdi></td>
                  <td><${Address} address=${item} /></td>
                </tr>`,
            )}
          </tbody>
        </table>`}
    />`;
}
