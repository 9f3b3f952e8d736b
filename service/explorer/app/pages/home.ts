import { useEffect, useState } from 'preact/hooks';

import { LabelsProvider, labelsOf, useApplication } from '../context.ts';
import { html } from '../html.ts';
import { useStream } from '../live.ts';
import type { Action, Block, Labels, Transaction } from '../objects.ts';
import { ActionTable } from '../parts/action-row.ts';
import { BlockLink } from '../parts/block-link.ts';
import { BlockTable } from '../parts/block-table.ts';
import { Facts } from '../parts/facts.ts';
import { LiveState } from '../parts/live-state.ts';
import { Loaded } from '../parts/loaded.ts';
import { Time } from '../parts/time.ts';
import { TransactionTable } from '../parts/transaction-row.ts';
import { useLoad } from '../use-load.ts';
import { words } from '../texts.ts';

/** Rows of each list. */
const ROWS = 12;

/** Blocks from which the rate is made. */
const RATE_BLOCKS = 30;

/** Without a stream the page asks again after this time. */
const POLL_MS = 5000;

/** The elector has a transaction in every masterchain block: an event of it says that there is a new block. */
const elector = `-1:${'3'.repeat(64)}`;

type News = {
  readonly blocks: readonly Block[];
  readonly transactions: { readonly transactions: readonly Transaction[] } & Labels;
  readonly actions: { readonly actions: readonly Action[] } & Labels;
};

/** The network now: head, rates, newest blocks, transactions and actions. */
export function HomePage() {
  const { api, settings } = useApplication();
  const load = useLoad<News>('home', async (signal) => {
    const [{ blocks }, transactions, actions] = await Promise.all([
      api.v3<{ blocks: Block[] }>('blocks', { workchain: -1, limit: RATE_BLOCKS, sort: 'desc' }, signal),
      api.v3<News['transactions']>('transactions', { limit: ROWS, sort: 'desc' }, signal),
      api.v3<News['actions']>('actions', { limit: ROWS, sort: 'desc', include_accounts: true }, signal),
    ]);
    // The API orders by time, and several blocks may have the same second.
    return { blocks: blocks.toSorted((one, other) => other.seqno - one.seqno), transactions, actions };
  });
  const { reload, isLoading, error } = load;
  const [events, setEvents] = useState(0);
  const stream = useStream({ types: ['transactions'], addresses: [elector] }, () => setEvents((count) => count + 1));
  // Events that come during a load are joined: the next load shows all of them.
  useEffect(() => {
    if (events > 0 && !isLoading) reload();
  }, [events]);
  useEffect(() => {
    // A failed load tries again by itself, when the API says.
    if (error !== undefined) return undefined;
    const timer = setInterval(reload, POLL_MS);
    return () => clearInterval(timer);
  }, [reload, error, events, stream]);

  return html`<h1>${settings.network} <${LiveState} state=${stream} /></h1>
    <${Loaded} load=${load} draw=${(news: News) => html`<${Overview} news=${news} />`} />`;
}

function Overview({ news }: { readonly news: News }) {
  const { settings } = useApplication();
  const { blocks, transactions, actions } = news;
  const [head] = blocks;
  return html`<${LabelsProvider} value=${labelsOf(transactions, actions)}>
    <${Facts}
      rows=${[
        [
          words.home.head,
          head && html`<${BlockLink} block=${head} /> <${Time} at=${Number(head.gen_utime)} withAge />`,
        ],
        [words.home.rate, rateOf(blocks)],
        [words.home.network, settings.network],
        [words.home.version, settings.version],
      ]}
    />
    <h2>${words.home.actions}</h2>
    <div class="scroll"><${ActionTable} actions=${actions.actions} caption=${words.home.actions} /></div>
    <h2>${words.home.transactions}</h2>
    <div class="scroll">
      <${TransactionTable} transactions=${transactions.transactions} caption=${words.home.transactions} />
    </div>
    <${BlockTable} blocks=${blocks.slice(0, ROWS)} caption=${words.home.blocks} />
  <//>`;
}

/** Blocks a minute from the times of the newest and the oldest of them; undefined when they have the same second. */
function rateOf(blocks: readonly Block[]): string | undefined {
  const newest = Number(blocks[0]?.gen_utime);
  const oldest = Number(blocks.at(-1)?.gen_utime);
  if (!(newest > oldest)) return undefined;
  return (((blocks.length - 1) * 60) / (newest - oldest)).toFixed(1);
}
