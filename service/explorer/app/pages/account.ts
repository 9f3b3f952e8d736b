import { useEffect, useState } from 'preact/hooks';

import { rawForm } from '../account/address-forms.ts';
import { ActionsTab, ItemsTab, NamesTab, TokensTab, TransactionsTab } from '../account/lists.ts';
import { loadAccount, type Account } from '../account/load-account.ts';
import { MethodsTab } from '../account/methods.ts';
import { AccountOverview } from '../account/overview.ts';
import { TokenFacts } from '../account/token-facts.ts';
import { LabelsProvider, labelsOf, useApplication } from '../context.ts';
import { safeText } from '../format.ts';
import { html } from '../html.ts';
import { useStream } from '../live.ts';
import { Address } from '../parts/address.ts';
import { Json } from '../parts/json.ts';
import { LiveState } from '../parts/live-state.ts';
import { Loaded } from '../parts/loaded.ts';
import { Tabs } from '../parts/tabs.ts';
import { paths, type Route } from '../paths.ts';
import { useLoad } from '../use-load.ts';
import { words } from '../texts.ts';

/** Events that come within this time cause one load. */
const JOIN_MS = 300;

const tabs = ['actions', 'transactions', 'tokens', 'items', 'methods', 'names', 'json'] as const;

/** An account: state, forms, token, and its lists by tabs; live. */
export function AccountPage({ route }: { readonly route: Extract<Route, { page: 'account' }> }) {
  const { api } = useApplication();
  const load = useLoad<Account>(`account ${route.address}`, async (signal) => loadAccount(api, route.address, signal));
  return html`<${Loaded}
      load=${load}
      draw=${(account: Account) =>
        html`<${Whole} account=${account} reload=${load.reload} tab=${route.tab} address=${route.address} />`}
    />
    ${load.value === undefined ? html`<h1>${words.account.title} ${safeText(route.address, 100)}</h1>` : null}`;
}

function Whole({
  account,
  reload,
  tab,
  address,
}: {
  readonly account: Account;
  readonly reload: () => void;
  readonly tab: string;
  readonly address: string;
}) {
  const raw = rawForm(account.address);
  const [events, setEvents] = useState(0);
  const [turn, setTurn] = useState(0);
  const stream = useStream(
    { types: ['transactions', 'actions', 'account_state_change'], addresses: [raw] },
    ({ type }) => {
      if (type !== undefined) setEvents((count) => count + 1);
    },
  );
  useEffect(() => {
    if (events === 0) return undefined;
    const timer = setTimeout(() => {
      setTurn((last) => last + 1);
      reload();
    }, JOIN_MS);
    return () => clearTimeout(timer);
  }, [events]);
  const names = words.account;
  const current = tabs.find((one) => one === tab) ?? 'actions';
  const domain = account.labels.address_book?.[raw]?.domain ?? undefined;
  return html`<${LabelsProvider} value=${labelsOf(account.labels)}>
    <h1>
      ${domain === undefined ? null : html`<bdi>${safeText(domain, 130)}</bdi> · `}<${Address} address=${raw} isWhole />
      <${LiveState} state=${stream} />
    </h1>
    <${AccountOverview} account=${account} />
    <${TokenFacts} account=${account} />
    <${Tabs}
      label=${names.tabsLabel}
      current=${current}
      tabs=${tabs.map((name) => ({ name, title: names.tabs[name], href: paths.account(address, name) }))}
    />
    <${TabContent} current=${current} account=${account} raw=${raw} turn=${turn} />
  <//>`;
}

function TabContent({
  current,
  account,
  raw,
  turn,
}: {
  readonly current: (typeof tabs)[number];
  readonly account: Account;
  readonly raw: string;
  readonly turn: number;
}) {
  switch (current) {
    case 'transactions':
      return html`<${TransactionsTab} raw=${raw} turn=${turn} />`;
    case 'tokens':
      return html`<${TokensTab} raw=${raw} turn=${turn} />`;
    case 'items':
      return html`<${ItemsTab} raw=${raw} turn=${turn} />`;
    case 'methods':
      return html`<${MethodsTab} raw=${raw} ids=${account.state?.contract_methods ?? null} />`;
    case 'names':
      return html`<${NamesTab} raw=${raw} turn=${turn} />`;
    case 'json':
      return html`<${Json} value=${{ state: account.state ?? null, wallet: account.wallet ?? null }} />`;
    default:
      return html`<${ActionsTab} raw=${raw} turn=${turn} />`;
  }
}
