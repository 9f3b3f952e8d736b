import { Registry } from 'prom-client';

import { writePaced, type PacedText } from '#service/contract/json-stream.ts';
import { createTimeSlice } from '#service/runtime/time-slice.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import type { Store } from '#service/store/store.ts';
import { createAnswerAnnotations } from '#service/v3/annotations/answer-annotations.ts';
import { createAddressBooks } from '#service/v3/annotations/address-book.ts';
import { actionOperations } from '#service/v3/operations/actions.ts';
import { balanceChangeOperations } from '#service/v3/operations/balance-changes.ts';
import { blockOperations } from '#service/v3/operations/blocks.ts';
import { dnsOperations } from '#service/v3/operations/dns-records.ts';
import { jettonOperations } from '#service/v3/operations/jettons.ts';
import { createAccountLabelCache } from '#service/v3/annotations/account-label-cache.ts';
import { createTokenInfoCache } from '#service/v3/annotations/token-info-cache.ts';
import { messageOperations } from '#service/v3/operations/messages.ts';
import { createTokenMetadata } from '#service/v3/annotations/metadata.ts';
import { cacheBytesOf } from '#service/v3/cache-bytes.ts';
import { createCacheMetrics } from '#service/v3/metrics.ts';
import { multisigOperations } from '#service/v3/operations/multisigs.ts';
import { nftOperations } from '#service/v3/operations/nfts.ts';
import { v3QuerySource } from '#service/v3/request/query-source.ts';
import { topAccountOperations } from '#service/v3/operations/top-accounts.ts';
import { traceOperations } from '#service/v3/operations/traces.ts';
import { transactionOperations } from '#service/v3/operations/transactions.ts';
import { createV3 } from '#service/v3/v3.ts';
import { vestingOperations } from '#service/v3/operations/vestings.ts';
import { createRenderers } from '#service/v3/rendering/renderers.ts';

/** Answers a request, as it is sent. @param query as in a URL */
export type Caller = (operation: string, query: string) => Promise<PacedText>;

const clock = (): number => performance.now();

/** The operations that the index alone answers. @param templates bags of transactions that stand for all */
export function createCaller(given: Store, templates: readonly Buffer[]): Caller {
  const store = findingMessages(given, templates);
  const register = new Registry();
  const metrics = createCacheMetrics(register);
  const accounts = createAccountLabelCache({ testOnly: false }, { clock, metrics });
  const addressBooks = createAddressBooks({ accounts });
  const tokenMetadata = createTokenMetadata({ accounts, tokens: createTokenInfoCache({}, { clock, metrics }) });
  const notes = createAnswerAnnotations({ accounts, ...addressBooks, ...tokenMetadata });
  const writers = createRenderers({ cacheBytes: cacheBytesOf() }, { metrics, random: Math.random });
  const { operations } = createV3(
    [
      ...blockOperations(),
      ...transactionOperations({ books: addressBooks, writer: writers.transactions }),
      ...messageOperations({ notes, writer: writers.messages }),
      ...addressBooks.operations,
      ...topAccountOperations(),
      ...tokenMetadata.operations,
      ...jettonOperations(notes),
      ...nftOperations(notes),
      ...traceOperations({ notes, network: { testOnly: false }, writer: writers.traces }),
      ...actionOperations({ notes, network: { testOnly: false }, writer: writers.transactions }),
      ...dnsOperations(addressBooks),
      ...multisigOperations(addressBooks),
      ...vestingOperations(addressBooks),
      ...balanceChangeOperations(),
    ],
    { store, nowMs: () => performance.now(), register },
  );
  const { signal } = new AbortController();
  return async (name, query) => {
    const operation = operations.find((one) => one.name === name);
    if (operation === undefined) throw new Error(`there is no operation ${name}`);
    const answer = await operation.run(v3QuerySource(new URLSearchParams(query)), {
      deadlineMs: performance.now() + 10_000,
      signal,
      settings: { timeoutMs: 3000, addressBook: true, metadata: true, actionsVersion: undefined },
      onNextPage: () => {},
    });
    return writePaced(answer.value, createTimeSlice(signal));
  };
}

type FoundBags = {
  hash: Buffer;
  created_lt: bigint | null;
  readonly consumer_boc?: Buffer | null;
  readonly producer_hash?: Buffer | null;
  readonly producer_boc?: Buffer | null;
};

/** A generated message is in none of the bags that stand for its transactions: one that is in there is told in its place. */
function findingMessages(store: Store, templates: readonly Buffer[]): Pick<Store, 'read'> {
  const ends = new Map(templates.map((boc) => [boc.toString('latin1'), messagesIn(boc)]));
  const endsOf = (boc: Buffer): readonly Told[] => {
    const found = ends.get(boc.toString('latin1'));
    // Without its messages an answer would be empty, and soon given.
    if (found === undefined) throw new Error('the index has a transaction that is none of its templates');
    return found;
  };
  /** @param sent what producers sent that were there before: the bag of each is in one row */
  const messageOf = (row: FoundBags, sent: Map<string, Told | undefined>): Told | undefined => {
    const { consumer_boc: consumer, producer_hash: hash, producer_boc: producer } = row;
    if (consumer) return endsOf(consumer).at(0);
    const key = hash?.toString('latin1') ?? '';
    if (producer) sent.set(key, endsOf(producer).at(-1));
    return sent.get(key);
  };
  return {
    async read<R extends object>(...query: Parameters<Store['read']>): Promise<R[]> {
      const rows = await store.read<R>(...query);
      if (rows[0] === undefined || !('consumer_boc' in rows[0])) return rows;
      const sent = new Map<string, Told | undefined>();
      for (const row of rows as unknown as FoundBags[]) Object.assign(row, messageOf(row, sent));
      return rows;
    },
  };
}

/** What a message is found by. */
type Told = Pick<FoundBags, 'hash' | 'created_lt'>;

/** The message that a transaction took, and those that it sent. */
function messagesIn(boc: Buffer): readonly Told[] {
  const table = parseBoc(boc);
  const { inMessage, outMessages } = readTransaction(table, table.roots[0]!);
  return [...(inMessage === undefined ? [] : [inMessage]), ...outMessages].map(({ cell, info }) => ({
    hash: table.hash(cell),
    created_lt: info.kind === 'externalIn' ? null : info.createdLt,
  }));
}
