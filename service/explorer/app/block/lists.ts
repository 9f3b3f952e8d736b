import { useApplication } from '../context.ts';
import { html } from '../html.ts';
import type { Block, Labels, Transaction } from '../objects.ts';
import { BlockTable } from '../parts/block-table.ts';
import { Loaded } from '../parts/loaded.ts';
import { Paged } from '../parts/paged.ts';
import { TransactionTable } from '../parts/transaction-row.ts';
import { useLoad } from '../use-load.ts';
import { useRows } from '../use-rows.ts';
import { words } from '../texts.ts';

/** Rows of a page. */
const PAGE = 50;

/** Transactions of a block by pages, oldest first. */
export function BlockTransactions({ block }: { readonly block: Block }) {
  const { api } = useApplication();
  const { workchain, shard, seqno } = block;
  const paged = useRows<Transaction>(
    `transactions of ${workchain} ${shard} ${seqno}`,
    async (cursor, signal) => {
      const { answer, next } = await api.v3Page<{ transactions: Transaction[] } & Labels>(
        'transactions',
        { workchain, shard, seqno, sort: 'asc', limit: PAGE, cursor },
        signal,
      );
      return { rows: answer.transactions, labels: answer, next };
    },
    ({ hash }) => hash,
  );
  return html`<${Paged}
    paged=${paged}
    none=${words.block.noTransactions}
    draw=${(rows: readonly Transaction[]) =>
      html`<div class="scroll">
        <${TransactionTable} transactions=${rows} caption=${words.columns.count} />
      </div>`}
  />`;
}

type BlocksAnswer = { readonly blocks: readonly Block[] };

/** Newest block of each shard that a masterchain block knows. */
export function Shards({ seqno }: { readonly seqno: number }) {
  const { api } = useApplication();
  const load = useLoad<BlocksAnswer>(`shards ${seqno}`, async (signal) =>
    api.v3<BlocksAnswer>('masterchainBlockShardState', { seqno }, signal),
  );
  return html`<${Loaded}
    load=${load}
    draw=${({ blocks }: BlocksAnswer) =>
      html`<div class="scroll">
        <${BlockTable}
          blocks=${blocks.filter(({ workchain }) => workchain !== -1)}
          caption=${words.block.shards}
          isQuiet
        />
      </div>`}
  />`;
}
