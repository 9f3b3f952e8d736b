import type { ParameterSource } from '#service/contract/parameter.ts';
import type { Store } from '#service/store/store.ts';
import { createAccountNotes } from '#service/v3/account-notes.ts';
import { createAddressBooks } from '#service/v3/address-book.ts';
import { blockOperations } from '#service/v3/blocks.ts';
import { jettonOperations } from '#service/v3/jettons.ts';
import { messageOperations } from '#service/v3/messages.ts';
import { createTokenMetadata } from '#service/v3/metadata.ts';
import { nftOperations } from '#service/v3/nfts.ts';
import { topAccountOperations } from '#service/v3/top-accounts.ts';
import { traceOperations } from '#service/v3/traces.ts';
import { transactionOperations } from '#service/v3/transactions.ts';
import { createV3 } from '#service/v3/v3.ts';

/** Answers a request as JSON text. @param query as in a URL */
export type Caller = (operation: string, query: string) => Promise<string>;

/** The operations that the index alone answers. */
export function createCaller(store: Store): Caller {
  const addressBooks = createAddressBooks({ testOnly: false });
  const tokenMetadata = createTokenMetadata({});
  const notes = createAccountNotes(addressBooks, tokenMetadata);
  const { operations } = createV3(
    [
      ...blockOperations(),
      ...transactionOperations(addressBooks),
      ...messageOperations(notes),
      ...addressBooks.operations,
      ...topAccountOperations(),
      ...tokenMetadata.operations,
      ...jettonOperations(notes),
      ...nftOperations(notes),
      ...traceOperations({ notes, network: { testOnly: false } }),
    ],
    { store, nowMs: () => performance.now() },
  );
  const { signal } = new AbortController();
  return async (name, query) => {
    const operation = operations.find((one) => one.name === name);
    if (operation === undefined) throw new Error(`there is no operation ${name}`);
    const answer = await operation.run(sourceOf(new URLSearchParams(query)), {
      deadlineMs: performance.now() + 10_000,
      signal,
      settings: { timeoutMs: 3000, addressBook: true, metadata: true, actionsVersion: undefined },
      onNextPage: () => {},
    });
    return JSON.stringify(answer.value);
  };
}

function sourceOf(query: URLSearchParams): ParameterSource {
  return {
    kind: 'query',
    get: (name) => query.getAll(name).at(-1),
    getAll: (name) => (query.has(name) ? query.getAll(name) : undefined),
  };
}
