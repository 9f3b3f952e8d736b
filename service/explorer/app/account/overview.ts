import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { formatCount, safeText } from '../format.ts';
import { html } from '../html.ts';
import { Ton } from '../parts/amount.ts';
import { Copy } from '../parts/copy.ts';
import { Facts } from '../parts/facts.ts';
import { Hash } from '../parts/hash.ts';
import { paths } from '../paths.ts';
import { words } from '../texts.ts';
import { friendlyForm, rawForm } from './address-forms.ts';
import type { Account } from './load-account.ts';
import { QrCode } from './qr.ts';

/** Balance, state, code and forms of an account. */
export function AccountOverview({ account }: { readonly account: Account }) {
  const { state, wallet, address, isTestOnly: testOnly } = account;
  const names = words.account;
  const bounceable = friendlyForm(address, { bounceable: true, testOnly });
  const plain = friendlyForm(address, { bounceable: false, testOnly });
  const last = state?.last_transaction_hash ?? undefined;
  return html`<div class="overview">
    <${Facts}
      rows=${[
        [names.balance, html`<strong><${Ton} value=${state?.balance ?? '0'} /></strong>`],
        ...currencies(account).map((text) => [names.currency, text] as const),
        [names.status, state?.status ?? names.untouched],
        [names.interfaces, interfaces(account)],
        [names.wallet, walletText(account)],
        [names.seqno, wallet?.seqno === undefined ? undefined : formatCount(wallet.seqno)],
        [names.walletId, wallet?.wallet_id === undefined ? undefined : String(wallet.wallet_id)],
        [names.code, hash(state?.code_hash)],
        [names.data, hash(state?.data_hash)],
        [names.frozen, hash(state?.frozen_hash)],
        [names.last, last === undefined ? undefined : html`<${Hash} hash=${last} href=${paths.transaction(last)} />`],
        [names.bounceable, form(bounceable)],
        [names.plain, form(plain)],
        [names.raw, form(rawForm(address))],
      ]}
    />
    <${QrOnDemand} text=${`ton://transfer/${plain}`} />
  </div>`;
}

/** The QR code, drawn when the reader opens it. */
function QrOnDemand({ text }: { readonly text: string }) {
  const [isOpen, setOpen] = useState(false);
  return html`<details
    class="qr"
    onToggle=${(event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}
  >
    <summary>${words.account.qr}</summary>
    ${isOpen ? html`<${QrCode} text=${text} />` : null}
  </details>`;
}

function currencies({ state }: Account): readonly string[] {
  return Object.entries(state?.extra_currencies ?? {}).map(([id, units]) =>
    words.token.currency(formatCount(units), id),
  );
}

function interfaces({ state }: Account): string | undefined {
  const all = state?.interfaces ?? [];
  return all.length === 0 ? undefined : all.map((one) => safeText(one, 60)).join(', ');
}

function walletText({ wallet }: Account): string | undefined {
  if (wallet?.is_wallet !== true || wallet.wallet_type === undefined) return undefined;
  return wallet.is_signature_allowed === false ? words.account.noSignature(wallet.wallet_type) : wallet.wallet_type;
}

const hash = (value: string | undefined): VNode | undefined =>
  value === undefined ? undefined : html`<${Hash} hash=${value} />`;

const form = (text: string): VNode => html`<span class="mono">${text}</span> <${Copy} text=${text} thing=${text} />`;
